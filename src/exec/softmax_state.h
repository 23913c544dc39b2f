// Softmax states in the workspace, and the fixed binary tree that joins them.
#ifndef FIA_EXEC_SOFTMAX_STATE_H_
#define FIA_EXEC_SOFTMAX_STATE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/plan.h"

namespace fia {

// The state whose arrays lie at `memory`.
inline SoftmaxState StateAt(const StateLayout& layout, std::byte* memory) noexcept {
  SoftmaxState state;
  state.row_max = reinterpret_cast<float*>(memory + layout.row_max);
  state.row_sum = reinterpret_cast<double*>(memory + layout.row_sum);
  if (layout.offset_sum >= 0) state.offset_sum = reinterpret_cast<float*>(memory + layout.offset_sum);
  state.acc = reinterpret_cast<float*>(memory + layout.acc);
  state.acc_stride = layout.acc_stride;
  return state;
}

// Makes the state that of no keys at all.
inline void ClearState(const SoftmaxState& state, std::int64_t rows) noexcept {
  std::fill_n(state.row_max, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.row_sum, rows, 0.0);
  if (state.offset_sum != nullptr) std::fill_n(state.offset_sum, rows, 0.0f);
  std::fill_n(state.acc, rows * state.acc_stride, 0.0f);
}

// Joins leaves, given in order of their index, by the binary tree over the indices: a node joins the left
// half of its indices with the right half, and a half without leaves is left out. What is joined with what
// depends on the indices alone. Leaves wait on a stack until the node above them is complete.
class MergeTree {
 public:
  MergeTree(const KernelTable& kernels, std::int64_t rows, std::int64_t value_dim) noexcept
      : kernels_(&kernels), rows_(rows), value_dim_(value_dim) {}

  // Joins the nodes that are complete when the next leaf has this index, the largest so far. The leaf's state
  // must not share memory with the depth() states that remain.
  void CloseBefore(std::int64_t index) noexcept {
    while (depth_ > 1 &&
           Level(indices_[depth_ - 2], indices_[depth_ - 1]) < Level(indices_[depth_ - 1], index)) {
      JoinTop();
    }
  }

  void Push(std::int64_t index, const SoftmaxState& state) noexcept {
    indices_[depth_] = index;
    states_[depth_++] = state;
  }

  // Joins all leaves in the first one's memory; null without leaves.
  const SoftmaxState* Root() noexcept {
    while (depth_ > 1) JoinTop();
    return depth_ == 0 ? nullptr : &states_[0];
  }

  int depth() const noexcept { return depth_; }

 private:
  // One more than the bits of an index: the levels of neighbours on the stack fall strictly.
  static constexpr int kMaxDepth = 65;

  // The height of the lowest node above both leaves.
  static int Level(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(a ^ b)));
  }

  void JoinTop() noexcept {
    --depth_;
    kernels_->merge(states_[depth_ - 1], states_[depth_], rows_, value_dim_);
  }

  const KernelTable* kernels_;
  std::int64_t rows_;
  std::int64_t value_dim_;
  int depth_ = 0;
  std::int64_t indices_[kMaxDepth];
  SoftmaxState states_[kMaxDepth];
};

}  // namespace fia

#endif  // FIA_EXEC_SOFTMAX_STATE_H_
