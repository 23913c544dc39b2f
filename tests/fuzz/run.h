// Both phases of a fuzzed call, through either interface, and what they may not do.
#ifndef FIA_TESTS_FUZZ_RUN_H_
#define FIA_TESTS_FUZZ_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fia/status.h"
#include "fuzz/cursor.h"
#include "fuzz/fuzz_call.h"
#include "support/call_memory.h"

namespace fia::testing {

// What came of a call.
struct Outcome {
  std::string fault;  // what the library did that it may not; empty if nothing
  StatusCode phase_one = StatusCode::kOk;
  bool faithful = true;              // the interface was given the call as it is
  std::vector<std::uint8_t> output;  // after a run that succeeded, in full

  void Blame(const std::string& what) {
    if (fault.empty()) fault = what;
  }
};

Outcome RunNative(FuzzCall* call, Cursor* cursor);
Outcome RunOperator(FuzzCall* call, Cursor* cursor);

// What is wrong with a status and its texts, empty if nothing. `phase`: 1 or 2.
std::string FaultOf(StatusCode code, const std::string& message, int phase);

// Memory for phase two: right, null, short, misaligned, larger.
struct Workspace {
  Memory memory;
  void* data = nullptr;
  std::uint64_t size = 0;
  bool enough = true;
};
Workspace ChooseWorkspace(Cursor* cursor, std::uint64_t needed, Guard guard);

// Decodes a call from the bytes and takes it through both phases. Empty, or what the library did that it may
// not.
std::string RunFuzzedCall(const std::uint8_t* data, std::size_t size, Guard guard);

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_RUN_H_
