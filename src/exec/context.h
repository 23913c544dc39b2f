// What all work items of one run share.
#ifndef FIA_EXEC_CONTEXT_H_
#define FIA_EXEC_CONTEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace fia {

struct RunContext {
  const Plan* plan = nullptr;
  void* const* addresses = nullptr;  // one for each slot
  std::byte* workspace = nullptr;    // aligned to 64
  std::int64_t query_padding = 0;    // left padding sizes, not negative
  std::int64_t kv_padding = 0;
  double score_factor = 1;  // int8 flow: deqScale1
  float weight_scale = 1;   // int8 flow: quantScale1
  double out_factor = 1;    // int8 flow: deqScale2

  // The caller's memory of a slot, `offset` bytes in.
  const std::byte* Input(std::int32_t slot, std::int64_t offset) const noexcept {
    return static_cast<const std::byte*>(addresses[slot]) + offset;
  }
  std::byte* Output(std::int32_t slot, std::int64_t offset) const noexcept {
    return static_cast<std::byte*>(addresses[slot]) + offset;
  }
  // An array of the workspace.
  template <class T>
  T* Shared(std::int64_t offset) const noexcept {
    return reinterpret_cast<T*>(workspace + offset);
  }
};

// Where the valid rows and keys of a sequence begin on their padded axes: qB and kB. A start below 0 leaves
// the sequence without valid rows.
struct Starts {
  std::int64_t query = 0;
  std::int64_t key = 0;

  bool valid() const noexcept { return query >= 0 && key >= 0; }
};

inline Starts StartsOf(const RunContext& context, const Sequence& sequence) noexcept {
  const Problem& problem = context.plan->problem;
  // A size beyond the axis gives a start below 0 whatever it is, and must not overflow.
  const auto start = [](std::int64_t axis, std::int64_t padding, std::int64_t count) {
    return axis - std::min(padding, axis + 1) - count;
  };
  Starts starts;
  if (problem.query_padding_slot != kNoSlot) {
    starts.query = start(sequence.query_axis, context.query_padding, sequence.query_count);
  }
  if (problem.kv_padding_slot != kNoSlot) {
    starts.key = start(sequence.key_axis, context.kv_padding, sequence.key_count);
  }
  return starts;
}

}  // namespace fia

#endif  // FIA_EXEC_CONTEXT_H_
