// The result of every call of the library. Header is C++17; no exceptions cross the interface.
#ifndef FIA_STATUS_H_
#define FIA_STATUS_H_

#include <cstdint>
#include <string>

namespace fia {

// The numbers are those the operator's C interface returns.
enum class StatusCode : std::int32_t {
  kOk = 0,
  kNullPointer = 161001,       // a required tensor, list member or result pointer is missing
  kInvalidParameter = 161002,  // a dtype or format that no call accepts for this parameter
  kRuntimeError = 361001,      // phase two: workspace, address, block id or executor
  kTilingError = 561002,       // any other broken rule
};

// What happened and, after a failure, why. A value: copy it freely. Not synchronised.
struct Status {
  StatusCode code = StatusCode::kOk;
  std::string
      parameter;        // the argument's name in the operator's interface ("actualSeqLengthsKv"), empty if ok
  std::string rule;     // the rule that refused the call ("lengths", "mask", "block_id"), empty if ok
  std::string message;  // one line: parameter, what it got, what is allowed, rule; empty if ok

  bool ok() const noexcept { return code == StatusCode::kOk; }
};

}  // namespace fia

#endif  // FIA_STATUS_H_
