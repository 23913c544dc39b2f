#include "describe/scales.h"

#include "core/arguments.h"
#include "core/layout.h"
#include "describe/strides.h"

namespace fia {
namespace {

// Axes of the scales of an antiquant mode, counted from the last axis = 1; 0: no such axis.
struct ScaleAxes {
  int batch;
  int block;
  int head;
  int token;
};

constexpr ScaleAxes kScaleAxes[] = {
    {0, 0, 0, 0},  // 0 per tensor or channel: see SetChannelStrides
    {2, 0, 0, 1},  // 1 per token           (B, S)
    {0, 0, 1, 0},  // 2 per head            (Nk)
    {3, 0, 2, 1},  // 3 per token and head  (B, Nk, S)
    {0, 2, 0, 1},  // 4 per token, paged    (blocks, block_size)
    {0, 3, 2, 1},  // 5 per token and head, paged (blocks, Nk, block_size)
};

// One scale or offset argument. Combined ones hold key (0) and value (1) along their first axis.
struct ScaleArgument {
  Argument argument;
  const TensorView* view;
  std::int64_t mode;
  bool combined;
  int member;        // combined: 0 key, 1 value
  std::int64_t dim;  // D or Dv
};

// Any arrangement of (Nk, D), row-major, axes of one element anywhere: D innermost, or heads and dim in one.
void SetChannelStrides(const TensorView& view, int first_axis, std::int64_t heads, std::int64_t dim,
                       KvScale* scale) noexcept {
  bool single = true;
  for (int axis = first_axis; axis < view.rank; ++axis) single = single && view.dims[axis] == 1;
  if (single) return;
  const int last = view.rank - 1;
  scale->per_channel = true;
  scale->dim_stride = AxisBytes(view, last);
  if (view.dims[last] == heads * dim) {
    scale->head_stride = dim * scale->dim_stride;
    return;
  }
  for (int axis = first_axis; axis < last; ++axis) {
    if (view.dims[axis] == heads) scale->head_stride = AxisBytes(view, axis);
  }
}

KvScale DescribeScale(const ScaleArgument& argument, std::int64_t heads) noexcept {
  const TensorView& view = *argument.view;
  KvScale scale;
  scale.slot = AddressSlot(argument.argument, 0, 1);
  scale.dtype = view.dtype;
  const int first_axis = argument.combined ? 1 : 0;
  if (argument.combined) scale.offset = argument.member * AxisBytes(view, 0);
  const ScaleAxes& axes = kScaleAxes[argument.mode];
  const auto bytes = [&view](int from_last) {
    return AxisBytes(view, from_last == 0 ? -1 : view.rank - from_last);
  };
  scale.batch_stride = bytes(axes.batch);
  scale.block_stride = bytes(axes.block);
  scale.head_stride = bytes(axes.head);
  scale.token_stride = bytes(axes.token);
  scale.per_token = axes.token != 0;
  scale.paged = axes.block != 0;
  if (argument.mode == 0) SetChannelStrides(view, first_axis, heads, argument.dim, &scale);
  return scale;
}

// Sets `scale` if the call gives that argument.
void DescribeGiven(const ScaleArgument& argument, const Call& call, KvScale* scale) noexcept {
  if (argument.view->present()) *scale = DescribeScale(argument, call.num_kv_heads);
}

void DescribeSeparate(const KvAntiquant& kv, const Call& call, Problem* problem) noexcept {
  const std::int64_t dim = call.head_dim, value_dim = call.value_dim;
  DescribeGiven({Argument::kKeyAntiquantScale, &kv.key_scale, kv.key_mode, false, 0, dim}, call,
                &problem->key_scale);
  DescribeGiven({Argument::kKeyAntiquantOffset, &kv.key_offset, kv.key_mode, false, 0, dim}, call,
                &problem->key_offset);
  DescribeGiven({Argument::kValueAntiquantScale, &kv.value_scale, kv.value_mode, false, 1, value_dim}, call,
                &problem->value_scale);
  DescribeGiven({Argument::kValueAntiquantOffset, &kv.value_offset, kv.value_mode, false, 1, value_dim}, call,
                &problem->value_offset);
}

void DescribeCombined(const KvAntiquant& kv, const Call& call, Problem* problem) noexcept {
  // With more than one query position the mode is not looked at: scales are per tensor or channel.
  const std::int64_t mode = call.query_axis == 1 ? kv.mode : 0;
  const std::int64_t dim = call.head_dim, value_dim = call.value_dim;
  DescribeGiven({Argument::kAntiquantScale, &kv.scale, mode, true, 0, dim}, call, &problem->key_scale);
  DescribeGiven({Argument::kAntiquantOffset, &kv.offset, mode, true, 0, dim}, call, &problem->key_offset);
  DescribeGiven({Argument::kAntiquantScale, &kv.scale, mode, true, 1, value_dim}, call,
                &problem->value_scale);
  DescribeGiven({Argument::kAntiquantOffset, &kv.offset, mode, true, 1, value_dim}, call,
                &problem->value_offset);
}

VectorTensor DescribeElement(const TensorView& view, Argument argument) noexcept {
  return {AddressSlot(argument, 0, 1), view.dtype, 0};
}

void DescribeInt8Mla(const AttentionParams& params, const Call& call, Problem* problem) noexcept {
  const KvAntiquant& kv = *params.quantisation->kv_antiquant;
  const TensorView& query_scale = params.quantisation->int8_mla->query_scale;
  DescribeGiven({Argument::kKeyAntiquantScale, &kv.key_scale, 0, false, 0, call.head_dim}, call,
                &problem->key_scale);
  DescribeGiven({Argument::kValueAntiquantScale, &kv.value_scale, 0, false, 1, call.value_dim}, call,
                &problem->value_scale);
  // The query's shape without its last axis; in BSH that axis counts heads.
  const FormAxes axes = AxesOf(call.layout->input);
  RowTensor& rows = problem->query_scale;
  rows.slot = AddressSlot(Argument::kDequantScaleQuery, 0, 1);
  rows.dtype = query_scale.dtype;
  rows.row_stride = AxisBytes(query_scale, axes.token);
  rows.head_stride = AxisBytes(query_scale, axes.head < 0 ? axes.dim : axes.head);
  rows.chunk = 1;
}

void DescribeOutput(const Int8Output& output, const Call& call, OutputQuantisation* quantisation) noexcept {
  const TensorView& scale = output.scale;
  quantisation->scale_slot = AddressSlot(Argument::kQuantScale2, 0, 1);
  quantisation->dtype = scale.dtype;
  quantisation->rank = scale.rank;
  for (int axis = 0; axis < scale.rank; ++axis) {
    quantisation->dims[axis] = scale.dims[axis];
    quantisation->scale_strides[axis] = AxisBytes(scale, axis);
    quantisation->per_channel = quantisation->per_channel || scale.dims[axis] > 1;
  }
  if (!output.offset.present()) return;
  quantisation->offset_slot = AddressSlot(Argument::kQuantOffset2, 0, 1);
  for (int axis = 0; axis < scale.rank; ++axis) {
    quantisation->offset_strides[axis] = AxisBytes(output.offset, axis);
  }
  quantisation->empty_row_is_offset = call.decode;
}

}  // namespace

void DescribeQuantisation(const AttentionParams& params, const Call& call, Problem* problem) noexcept {
  if (!params.quantisation) return;
  const Quantisation& quantisation = *params.quantisation;
  if (call.flow == Flow::kAntiquant && call.antiquant == AntiquantSource::kSeparate) {
    DescribeSeparate(*quantisation.kv_antiquant, call, problem);
  }
  if (call.flow == Flow::kAntiquant && call.antiquant == AntiquantSource::kCombined) {
    DescribeCombined(*quantisation.kv_antiquant, call, problem);
  }
  if (call.flow == Flow::kInt8) {
    const Int8Flow& flow = *quantisation.int8_flow;
    problem->deq_scale1 = DescribeElement(flow.deq_scale1, Argument::kDeqScale1);
    problem->quant_scale1 = DescribeElement(flow.quant_scale1, Argument::kQuantScale1);
    problem->deq_scale2 = DescribeElement(flow.deq_scale2, Argument::kDeqScale2);
  }
  if (call.flow == Flow::kInt8Mla) DescribeInt8Mla(params, call, problem);
  if (quantisation.int8_output && quantisation.int8_output->scale.present()) {
    DescribeOutput(*quantisation.int8_output, call, &problem->output_quantisation);
  }
}

std::int64_t QueryScaleStep(const AttentionParams& params, const Call& call) noexcept {
  if (call.flow != Flow::kInt8Mla) return 0;
  return AxisBytes(params.quantisation->int8_mla->query_scale, AxesOf(call.layout->input).batch);
}

}  // namespace fia
