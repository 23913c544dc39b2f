#include "exec/fill.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/arguments.h"
#include "core/fill.h"
#include "exec/finish.h"
#include "exec/scales.h"

namespace fia {
namespace {

constexpr float kEmptyLse = std::numeric_limits<float>::infinity();

// quantOffset2 alone, rounded: what a decode call gives for a sequence without keys.
void WriteOffsetRow(const RunContext& context, std::int64_t head, std::byte* row) noexcept {
  const Problem& problem = context.plan->problem;
  for (std::int64_t d = 0; d < problem.value_dim; ++d) {
    const float offset = OutputOffset(context, head, d);
    // Written so that a NaN, too, becomes a number that int8 has.
    const float rounded = std::nearbyint(offset > -128 ? (offset < 127 ? offset : 127) : -128);
    const auto value = static_cast<std::int8_t>(rounded);
    std::memcpy(row + d * problem.out.dim_stride, &value, sizeof value);
  }
}

// One head's rows outside [begin, end) of a sequence, and all of them when the range is empty.
void FillHead(const RunContext& context, const Sequence& sequence, std::int64_t head, std::int64_t begin,
              std::int64_t end, bool offsets) noexcept {
  const Problem& problem = context.plan->problem;
  const RowTensor& out = problem.out;
  const RowTensor& lse = problem.lse;
  for (std::int64_t row = 0; row < sequence.query_axis; ++row) {
    if (row == begin && begin < end) row = end;
    if (row == sequence.query_axis) return;
    std::byte* to =
        context.Output(out.slot, sequence.out_offset + row * out.row_stride + head * out.head_stride);
    if (offsets) {
      WriteOffsetRow(context, head, to);
    } else {
      ClearOutputRow(out, problem.value_dim, to);
    }
    if (!lse.present()) continue;
    std::memcpy(context.Output(lse.slot, sequence.lse_offset + row * lse.row_stride + head * lse.head_stride),
                &kEmptyLse, sizeof kEmptyLse);
  }
}

// The rows of one kv head's group outside the valid ones of a sequence; all rows when it has no keys.
void FillSequence(const RunContext& context, const Sequence& sequence, std::int64_t kv_head) noexcept {
  const Problem& problem = context.plan->problem;
  const Starts starts = StartsOf(context, sequence);
  const bool computed = starts.valid() && sequence.key_count > 0;
  const bool offsets =
      sequence.query_count > 0 && sequence.key_count == 0 && problem.output_quantisation.empty_row_is_offset;
  const std::int64_t begin = computed ? starts.query : 0;
  const std::int64_t end = computed ? begin + sequence.query_count : 0;
  for (std::int64_t member = 0; member < problem.group; ++member) {
    FillHead(context, sequence, kv_head * problem.group + member, begin, end, offsets);
  }
}

// Run `index` of a whole tensor: every element becomes `size` bytes of `pattern`.
void FillView(const TensorView& view, const FillRows& fill, std::int64_t index, const void* pattern,
              std::int64_t size, std::byte* base) noexcept {
  const std::int64_t stride = (view.rank == 0 ? 1 : view.strides[view.rank - 1]) * size;
  const std::int64_t last = std::min(fill.rows, (index + 1) * fill.per_run);
  for (std::int64_t row = index * fill.per_run; row < last; ++row) {
    std::int64_t offset = 0, rest = row;
    for (int axis = view.rank - 2; axis >= 0; --axis) {
      offset += rest % view.dims[axis] * view.strides[axis] * size;
      rest /= view.dims[axis];
    }
    for (std::int64_t d = 0; d < fill.dim; ++d) {
      std::memcpy(base + offset + d * stride, pattern, static_cast<std::size_t>(size));
    }
  }
}

// A call that computes nothing: attention_out first, then softmax_lse.
void FillOutputs(const RunContext& context, std::int64_t index) noexcept {
  constexpr float kZero = 0;  // all bytes zero, as the zeros of all output types
  const Problem& problem = context.plan->problem;
  const FillRows out = FillRowsOf(problem.fill_out);
  const auto slot = [](Argument argument) { return AddressSlot(argument, 0, 1); };
  if (index < out.runs()) {
    FillView(problem.fill_out, out, index, &kZero, BitsOf(problem.fill_out.dtype) / 8,
             context.Output(slot(Argument::kAttentionOut), 0));
    return;
  }
  FillView(problem.fill_lse, FillRowsOf(problem.fill_lse), index - out.runs(), &kEmptyLse, sizeof kEmptyLse,
           context.Output(slot(Argument::kSoftmaxLse), 0));
}

}  // namespace

void RunFill(const RunContext& context, std::int64_t index) noexcept {
  const Plan& plan = *context.plan;
  if (plan.problem.fill_only) {
    FillOutputs(context, index);
    return;
  }
  const std::int64_t heads = plan.problem.num_kv_heads;
  const std::int32_t sequence = plan.fills[static_cast<std::size_t>(index / heads)];
  FillSequence(context, plan.problem.sequences[static_cast<std::size_t>(sequence)], index % heads);
}

}  // namespace fia
