#include "describe/describe.h"

#include "core/arguments.h"
#include "describe/pairs.h"
#include "describe/rows.h"
#include "describe/scales.h"
#include "describe/slots.h"
#include "describe/storage.h"
#include "describe/strides.h"

namespace fia {
namespace {

// Bytes from one sequence to the next in each tensor that a sequence has offsets into; packed layouts: 0.
struct SequenceSteps {
  std::int64_t query = 0;
  std::int64_t query_rope = 0;
  std::int64_t query_scale = 0;
  std::int64_t out = 0;
  std::int64_t lse = 0;
  std::int64_t mask = 0;
  std::int64_t bias = 0;
  KvSteps kv;
};

// lse: (B, N, S, 1), packed (T, N, 1). As rows of one element.
RowAxes AxesOfLse(bool packed) noexcept {
  return packed ? RowAxes{-1, 0, 1, -1, 2} : RowAxes{0, 2, 1, -1, 3};
}

void DescribeFill(const AttentionParams& params, Problem* problem) {
  problem->fill_only = true;
  problem->fill_out = params.attention_out;
  problem->fill_out.data = nullptr;
  if (params.softmax_lse) problem->fill_lse = *params.softmax_lse;
  problem->fill_lse.data = nullptr;
}

void DescribeNumbers(const AttentionParams& params, const Call& call, Problem* problem) noexcept {
  problem->flow = call.flow;
  problem->num_heads = call.num_heads;
  problem->num_kv_heads = call.num_kv_heads;
  problem->group = call.num_heads / call.num_kv_heads;
  problem->head_dim = call.head_dim;
  problem->value_dim = call.value_dim;
  problem->rope_dim = call.rope_dim;
  problem->scale = static_cast<float>(params.scores.scale);
  problem->narrow = (params.scores.inner_precise & 1) != 0;
}

// Query, rope, outputs, sink and left padding.
void DescribeQueryAndOutput(const AttentionParams& params, const Call& call, Problem* problem) noexcept {
  const auto rows = [](Argument argument, const TensorView& view, const RowAxes& axes, std::int64_t dim) {
    return DescribeRows(view, AddressSlot(argument, 0, 1), view.dtype, axes, dim);
  };
  const RowAxes input = AxesOfRows(call.layout->input);
  problem->query = rows(Argument::kQuery, params.query, input, call.head_dim);
  if (call.rope_dim > 0) {
    problem->query_rope = rows(Argument::kQueryRope, params.rope->query, input, call.rope_dim);
  }
  problem->out =
      rows(Argument::kAttentionOut, params.attention_out, AxesOfRows(call.layout->output), call.value_dim);
  if (params.softmax_lse) {
    problem->lse = rows(Argument::kSoftmaxLse, *params.softmax_lse, AxesOfLse(call.layout->packed), 1);
  }
  if (const TensorView& sink = params.scores.learnable_sink; sink.present()) {
    problem->sink = {AddressSlot(Argument::kLearnableSink, 0, 1), sink.dtype, AxisBytes(sink, 0)};
  }
  if (call.query_left_padded) problem->query_padding_slot = AddressSlot(Argument::kQueryPaddingSize, 0, 1);
  if (call.kv_left_padded) problem->kv_padding_slot = AddressSlot(Argument::kKvPaddingSize, 0, 1);
}

SequenceSteps DescribeSteps(const AttentionParams& params, const Call& call) noexcept {
  const int batch = AxesOf(call.layout->input).batch;
  SequenceSteps steps;
  steps.query = AxisBytes(params.query, batch);
  if (call.rope_dim > 0) steps.query_rope = AxisBytes(params.rope->query, batch);
  steps.query_scale = QueryScaleStep(params, call);
  steps.out = AxisBytes(params.attention_out, AxesOf(call.layout->output).batch);
  if (params.softmax_lse) steps.lse = AxisBytes(*params.softmax_lse, AxesOfLse(call.layout->packed).outer);
  steps.mask = MaskStep(params, call);
  steps.bias = BiasStep(params, call);
  steps.kv = DescribeKvSteps(params, call);
  return steps;
}

// The S axis that left padding counts from: of the sequence's own tensor, the whole table when paged.
std::int64_t KvAxis(const AttentionParams& params, const Call& call, std::size_t index) noexcept {
  if (call.layout->packed && call.cache == CacheForm::kNone) return call.kv_lengths[index];
  if (!call.tensor_list) return call.kv_axis;
  return params.key[index].dims[AxesOf(call.layout->input).token];
}

void DescribeSequence(const AttentionParams& params, const Call& call, const SequenceSteps& steps,
                      const Problem& problem, std::int64_t index, Sequence* sequence) noexcept {
  const auto at = static_cast<std::size_t>(index);
  const std::int64_t start = call.query_starts[at];
  sequence->query_count = call.query_lengths[at];
  sequence->key_count = call.prefix_length + call.kv_lengths[at];
  sequence->query_axis = call.layout->packed ? sequence->query_count : call.query_axis;
  sequence->key_axis = KvAxis(params, call, at);
  sequence->query_offset = index * steps.query + start * problem.query.row_stride;
  sequence->query_rope_offset = index * steps.query_rope + start * problem.query_rope.row_stride;
  sequence->query_scale_offset = index * steps.query_scale + start * problem.query_scale.row_stride;
  sequence->out_offset = index * steps.out + start * problem.out.row_stride;
  sequence->lse_offset = index * steps.lse + start * problem.lse.row_stride;
  sequence->mask_offset = index * steps.mask;
  sequence->bias_offset = index * steps.bias;
  DescribeBand(call, sequence);
  DescribeSegments(call, steps.kv, problem, index, sequence);
}

}  // namespace

Problem Describe(const AttentionParams& params, const Call& call) {
  Problem problem;
  if (call.fill_only) {
    DescribeFill(params, &problem);
    ListUsedSlots(&problem);
    return problem;
  }
  DescribeNumbers(params, call, &problem);
  DescribeQueryAndOutput(params, call, &problem);
  DescribeStorage(params, call, &problem);
  DescribePairs(params, call, &problem);
  DescribeQuantisation(params, call, &problem);
  const SequenceSteps steps = DescribeSteps(params, call);
  problem.sequences.resize(static_cast<std::size_t>(call.batch));
  for (std::int64_t index = 0; index < call.batch; ++index) {
    DescribeSequence(params, call, steps, problem, index,
                     &problem.sequences[static_cast<std::size_t>(index)]);
  }
  ListUsedSlots(&problem);
  return problem;
}

}  // namespace fia
