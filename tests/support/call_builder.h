// Turns a CallSpec into buffers of exact size and AttentionParams. Whatever no correct implementation reads
// (padding, unused cache slots, keys that no row attends, masked bias) holds NaN, or zero if the spec says
// so; table entries past a sequence's end are garbage.
#ifndef FIA_TESTS_SUPPORT_CALL_BUILDER_H_
#define FIA_TESTS_SUPPORT_CALL_BUILDER_H_

#include <cstdint>
#include <vector>

#include "fia/attention.h"
#include "support/call_geometry.h"
#include "support/call_parts.h"
#include "support/call_spec.h"

namespace fia::testing {

class BuiltCall {
 public:
  explicit BuiltCall(const CallSpec& spec);
  BuiltCall(const BuiltCall&) = delete;
  BuiltCall& operator=(const BuiltCall&) = delete;

  const CallSpec& spec() const { return spec_; }
  const CallGeometry& geometry() const { return geometry_; }
  const AttentionParams& params() const { return params_; }
  AttentionParams* mutable_params() { return &params_; }
  CallTensors* tensors() { return &tensors_; }

  // Runs both phases.
  Status Run() const;

  // Results by meaning: sequence, row, head, element. Rows are valid ones, 0..S1-1.
  double Out(std::int64_t b, std::int64_t i, std::int64_t n, std::int64_t d) const;
  double Lse(std::int64_t b, std::int64_t i, std::int64_t n) const;

  // The bytes of the sequence's valid rows in the order (row, head, element), then of its lse if asked for;
  // nothing for a sequence that left padding leaves no room for.
  std::vector<std::uint8_t> Bits(std::int64_t b, bool with_lse = true) const;

  // No byte of the output buffers outside the views has changed.
  bool OutputGapsHold() const;

 private:
  void BuildQuery(const CallParts& parts);
  void BuildLengths();
  void BuildPadding(const CallParts& parts);
  void BuildOutputs();

  CallSpec spec_;
  CallGeometry geometry_;
  CallTensors tensors_;
  AttentionParams params_;
};

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_BUILDER_H_
