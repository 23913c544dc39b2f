#include "exec/finish.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "exec/scalar.h"

namespace fia {
namespace {

// What a finished row is: factor times acc, and lse.
struct RowEnd {
  double factor = 0;
  double lse = std::numeric_limits<double>::infinity();
};

// Joins the sink (-inf: none), a score without a value, to a row that attends some key.
RowEnd EndRow(double row_max, double row_sum, double sink) noexcept {
  const double joined_max = std::max(row_max, sink);
  const double weight = std::exp(row_max - joined_max);
  const double joined_sum = row_sum * weight + std::exp(sink - joined_max);
  return {weight / joined_sum, joined_max + std::log(joined_sum)};
}

double SinkOf(const ItemRun& run, std::int64_t head) noexcept {
  const VectorTensor& sink = run.problem().sink;
  if (!sink.present()) return -std::numeric_limits<double>::infinity();
  return ReadFloat(run.context->Input(sink.slot, head * sink.stride), sink.dtype);
}

// Pointers to each row's quantScale2 or quantOffset2.
const float* const* PointAtOutputScales(const ItemRun& run, std::int64_t shared,
                                        std::int64_t array) noexcept {
  const Problem& problem = run.problem();
  auto* rows = run.Array<const float*>(array);
  const auto* values = run.context->Shared<float>(shared);
  const std::int64_t head_stride = problem.output_quantisation.per_channel ? problem.value_dim : 0;
  VisitRows(run, [&](std::int64_t row, std::int64_t, std::int64_t head) {
    rows[row] = values + head * head_stride;
  });
  return rows;
}

// What all rows of the item have in common.
StoreArgs ItemStore(const ItemRun& run, const SoftmaxState& state) noexcept {
  const Problem& problem = run.problem();
  const WorkspaceLayout& workspace = run.plan().workspace;
  const std::int64_t channels = run.item.kv_head * problem.value_dim;
  StoreArgs args;
  args.rows = run.item.rows;
  args.value_dim = problem.value_dim;
  args.acc = state.acc;
  args.acc_stride = state.acc_stride;
  if (problem.value_scale.present() && !problem.value_scale.per_token) {
    args.channel_scale = run.context->Shared<float>(workspace.value_scales) + channels;
  }
  if (problem.value_offset.present() && !problem.value_offset.per_token) {
    args.channel_offset = run.context->Shared<float>(workspace.value_offsets) + channels;
  }
  args.out_type = problem.out.dtype;
  args.out_dim_stride = problem.out.dim_stride;
  if (problem.output_quantisation.present()) {
    args.quant_scale = PointAtOutputScales(run, workspace.output_scales, run.layout().quant_scales);
  }
  if (problem.output_quantisation.offset_slot != kNoSlot) {
    args.quant_offset = PointAtOutputScales(run, workspace.output_offsets, run.layout().quant_offsets);
  }
  return args;
}

void WriteLse(const ItemRun& run, std::int64_t query, std::int64_t head, double value) noexcept {
  const RowTensor& lse = run.problem().lse;
  if (!lse.present()) return;
  const auto rounded = static_cast<float>(value);
  std::memcpy(
      run.context->Output(lse.slot, run.sequence->lse_offset + (run.starts.query + query) * lse.row_stride +
                                        head * lse.head_stride),
      &rounded, sizeof rounded);
}

}  // namespace

void ClearOutputRow(const RowTensor& out, std::int64_t value_dim, std::byte* row) noexcept {
  const std::int64_t size = out.bits() / 8;
  if (out.contiguous(value_dim)) {
    std::memset(row, 0, static_cast<std::size_t>(value_dim * size));
    return;
  }
  for (std::int64_t d = 0; d < value_dim; ++d) {
    std::memset(row + d * out.dim_stride, 0, static_cast<std::size_t>(size));
  }
}

void FinishRows(const ItemRun& run, const SoftmaxState* state) noexcept {
  const Problem& problem = run.problem();
  const RowTensor& out = problem.out;
  auto* out_rows = run.Array<void*>(run.layout().query_rows);
  auto* factor = run.Array<double>(run.layout().factor);
  float* addend = problem.value_offset.per_token ? run.Array<float>(run.layout().addend) : nullptr;
  std::byte* base =
      run.context->Output(out.slot, run.sequence->out_offset + run.starts.query * out.row_stride);
  VisitRows(run, [&](std::int64_t row, std::int64_t query, std::int64_t head) {
    std::byte* to = base + query * out.row_stride + head * out.head_stride;
    RowEnd end;
    // A row that attends no key is all zero, whatever offsets and factors the output has.
    const bool empty = state == nullptr || state->row_max[row] == -std::numeric_limits<float>::infinity();
    if (empty) {
      ClearOutputRow(out, problem.value_dim, to);
    } else {
      end = EndRow(state->row_max[row], state->row_sum[row], SinkOf(run, head));
    }
    out_rows[row] = empty ? nullptr : to;
    factor[row] = end.factor * run.context->out_factor;
    if (addend != nullptr) addend[row] = empty ? 0 : static_cast<float>(state->offset_sum[row] * end.factor);
    WriteLse(run, query, head, end.lse);
  });
  if (state == nullptr) return;
  StoreArgs args = ItemStore(run, *state);
  args.factor = factor;
  args.addend = addend;
  args.out_rows = out_rows;
  run.plan().kernels->store(args);
}

}  // namespace fia
