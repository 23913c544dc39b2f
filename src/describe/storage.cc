#include "describe/storage.h"

#include "core/arguments.h"
#include "describe/rows.h"
#include "describe/strides.h"

namespace fia {
namespace {

RowAxes AxesOfKv(const Call& call) noexcept {
  return call.cache == CacheForm::kNone ? AxesOfRows(call.layout->input) : AxesOfCache(call.cache);
}

// One member of the key and value lists: an ordinary tensor, a list's tensor or the paged cache.
KvTensors DescribeMember(const AttentionParams& params, const Call& call, std::int64_t member) noexcept {
  const auto members = static_cast<std::int64_t>(params.key.size());
  const TensorView& key = params.key[static_cast<std::size_t>(member)];
  const TensorView& value = params.value[static_cast<std::size_t>(member)];
  const RowAxes axes = AxesOfKv(call);
  KvTensors tensors;
  tensors.paged = call.cache != CacheForm::kNone;
  tensors.key =
      DescribeRows(key, AddressSlot(Argument::kKey, member, members), call.kv_dtype, axes, call.head_dim);
  tensors.value = DescribeRows(value, AddressSlot(Argument::kValue, member, members), call.kv_dtype, axes,
                               call.value_dim);
  if (tensors.paged) {
    tensors.key.block_stride = AxisBytes(key, axes.outer);
    tensors.value.block_stride = AxisBytes(value, axes.outer);
  }
  if (call.rope_dim > 0) {
    const TensorView& rope = params.rope->key;
    tensors.rope =
        DescribeRows(rope, AddressSlot(Argument::kKeyRope, 0, members), rope.dtype, axes, call.rope_dim);
    if (tensors.paged) tensors.rope.block_stride = AxisBytes(rope, axes.outer);
  }
  return tensors;
}

KvTensors DescribePrefix(const SharedPrefix& prefix, const Call& call) noexcept {
  const RowAxes axes = AxesOfRows(call.layout->input);
  KvTensors tensors;
  tensors.key = DescribeRows(prefix.key, AddressSlot(Argument::kKeySharedPrefix, 0, 1), call.kv_dtype, axes,
                             call.head_dim);
  tensors.value = DescribeRows(prefix.value, AddressSlot(Argument::kValueSharedPrefix, 0, 1), call.kv_dtype,
                               axes, call.value_dim);
  return tensors;
}

}  // namespace

void DescribeStorage(const AttentionParams& params, const Call& call, Problem* problem) {
  const std::size_t members = call.tensor_list ? params.key.size() : 1;
  problem->storage.reserve(members + (call.has_prefix ? 1 : 0));
  for (std::size_t member = 0; member < members; ++member) {
    problem->storage.push_back(DescribeMember(params, call, static_cast<std::int64_t>(member)));
  }
  if (call.has_prefix) problem->storage.push_back(DescribePrefix(*params.prefix, call));
  if (call.cache == CacheForm::kNone) return;
  const TensorView& table = params.paged->block_table;
  problem->block_size = call.block_size;
  problem->block_count = call.block_count;
  problem->block_table_slot = AddressSlot(Argument::kBlockTable, 0, 1);
  problem->table_row_stride = AxisBytes(table, 0);
  problem->table_block_stride = AxisBytes(table, 1);
}

KvSteps DescribeKvSteps(const AttentionParams& params, const Call& call) noexcept {
  KvSteps steps;
  if (call.tensor_list || call.cache != CacheForm::kNone) return steps;
  const int batch = AxesOfRows(call.layout->input).outer;
  steps.key = AxisBytes(params.key.front(), batch);
  steps.value = AxisBytes(params.value.front(), batch);
  if (call.rope_dim > 0) steps.rope = AxisBytes(params.rope->key, batch);
  return steps;
}

void DescribeSegments(const Call& call, const KvSteps& steps, const Problem& problem, std::int64_t index,
                      Sequence* sequence) noexcept {
  const std::int64_t own = call.kv_lengths[static_cast<std::size_t>(index)];
  const std::int64_t prefix = call.prefix_length;
  if (prefix > 0) {
    KvSegment& segment = sequence->segments[sequence->segment_count++];
    segment.tensors = static_cast<std::int32_t>(problem.storage.size()) - 1;
    segment.end = prefix;
  }
  if (own == 0) return;
  KvSegment& segment = sequence->segments[sequence->segment_count++];
  segment.begin = prefix;
  segment.end = prefix + own;
  if (call.tensor_list) segment.tensors = static_cast<std::int32_t>(index);
  if (call.cache != CacheForm::kNone) return;
  const std::int64_t start = call.kv_starts[static_cast<std::size_t>(index)];
  const KvTensors& tensors = problem.storage[static_cast<std::size_t>(segment.tensors)];
  segment.key_offset = index * steps.key + start * tensors.key.row_stride;
  segment.value_offset = index * steps.value + start * tensors.value.row_stride;
  segment.rope_offset = index * steps.rope + start * tensors.rope.row_stride;
}

}  // namespace fia
