#include "reference/storage.h"

#include <string>

#include "reference/mask.h"

namespace fia::reference {
namespace {

Status RuntimeError(const char* parameter, const char* rule, const std::string& message) {
  Status status;
  status.code = StatusCode::kRuntimeError;
  status.parameter = parameter;
  status.rule = rule;
  status.message = std::string(parameter) + ": " + message + " [" + rule + "]";
  return status;
}

HeadRow CacheRow(const TensorView& cache, const CacheSlot& slot, std::int64_t dim,
                 std::int64_t kv_head) noexcept {
  HeadRow row;
  row.view = &cache;
  row.position = slot.block * cache.strides[0];
  if (cache.rank == 3) {  // (blocks, blockSize, Nk*D)
    row.position += slot.offset * cache.strides[1];
    row.first = kv_head * dim;
  } else {  // (blocks, Nk, blockSize, D) or (blocks, Nk, D/D0, blockSize, D0)
    row.position += kv_head * cache.strides[1] + slot.offset * cache.strides[cache.rank - 2];
  }
  return row;
}

// Gathers the first tensor without an address.
class AddressCheck {
 public:
  void Need(const TensorView& view, const char* name) noexcept {
    if (missing_ == nullptr && view.present() && view.data == nullptr) missing_ = name;
  }
  const char* missing() const noexcept { return missing_; }

 private:
  const char* missing_ = nullptr;
};

void NeedQuantisation(const AttentionParams& params, const CallShape& shape, AddressCheck* check) {
  if (!params.quantisation) return;
  const Quantisation& quantisation = *params.quantisation;
  if (quantisation.kv_antiquant && shape.kind != QueryKind::kInt8) {
    const KvAntiquant& scales = *quantisation.kv_antiquant;
    const bool separate = scales.key_scale.present() && scales.value_scale.present();
    check->Need(separate ? scales.key_scale : scales.scale,
                separate ? "keyAntiquantScale" : "antiquantScale");
    check->Need(separate ? scales.key_offset : scales.offset,
                separate ? "keyAntiquantOffset" : "antiquantOffset");
    if (separate) check->Need(scales.value_scale, "valueAntiquantScale");
    if (separate) check->Need(scales.value_offset, "valueAntiquantOffset");
  }
  if (quantisation.int8_flow && shape.kind == QueryKind::kInt8) {
    check->Need(quantisation.int8_flow->deq_scale1, "deqScale1");
    check->Need(quantisation.int8_flow->quant_scale1, "quantScale1");
    check->Need(quantisation.int8_flow->deq_scale2, "deqScale2");
  }
  if (quantisation.int8_output) {
    check->Need(quantisation.int8_output->scale, "quantScale2");
    check->Need(quantisation.int8_output->offset, "quantOffset2");
  }
  if (quantisation.int8_mla) check->Need(quantisation.int8_mla->query_scale, "dequantScaleQuery");
}

Status CheckBlockIds(const AttentionParams& params, const CallShape& shape) {
  const TensorView& table = params.paged->block_table;
  const std::int64_t blocks = params.key[0].dims[0];
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const SequenceShape& sequence = shape.sequences[static_cast<std::size_t>(b)];
    if (sequence.query_length == 0) continue;
    for (std::int64_t token = 0; token < sequence.kv_length; token += params.paged->block_size) {
      const std::int64_t block = SlotOf(params, b, token).block;
      if (block >= 0 && block < blocks) continue;
      return RuntimeError("blockTable", "block_id",
                          "entry " + std::to_string(token / params.paged->block_size) + " of sequence " +
                              std::to_string(b) + " is " + std::to_string(block) + ", allowed 0.." +
                              std::to_string(blocks - 1) + " (" + std::to_string(table.dims[1]) +
                              " entries a sequence)");
    }
  }
  return Status();
}

}  // namespace

CacheSlot SlotOf(const AttentionParams& params, std::int64_t sequence, std::int64_t token) noexcept {
  const TensorView& table = params.paged->block_table;
  const std::int64_t column = token / params.paged->block_size;
  CacheSlot slot;
  slot.block =
      static_cast<std::int64_t>(ReadElement(table, sequence * table.strides[0] + column * table.strides[1]));
  slot.offset = token % params.paged->block_size;
  return slot;
}

HeadRow KvRow(const AttentionParams& params, const CallShape& shape, KvPart part, std::int64_t sequence,
              std::int64_t kv_head, std::int64_t j) noexcept {
  const SequenceShape& own = shape.sequences[static_cast<std::size_t>(sequence)];
  const std::int64_t dim = part == KvPart::kKey     ? shape.dim
                           : part == KvPart::kValue ? shape.value_dim
                                                    : shape.rope_dim;
  if (j < shape.prefix) {
    const TensorView& prefix = part == KvPart::kKey ? params.prefix->key : params.prefix->value;
    return RowOf(prefix, shape.input, dim, 0, j, kv_head);
  }
  const std::int64_t token = j - shape.prefix;
  const std::size_t member = shape.list ? static_cast<std::size_t>(sequence) : 0;
  const TensorView& tensor = part == KvPart::kKey     ? params.key[member]
                             : part == KvPart::kValue ? params.value[member]
                                                      : params.rope->key;
  if (shape.paged) return CacheRow(tensor, SlotOf(params, sequence, token), dim, kv_head);
  const std::int64_t batch = shape.list ? 0 : sequence;
  return RowOf(tensor, shape.input, dim, batch, own.kv_start + own.kv_begin + token, kv_head);
}

Status CheckStorage(const AttentionParams& params, const CallShape& shape) {
  AddressCheck check;
  check.Need(params.query, "query");
  for (const TensorView& key : params.key) {
    if (HasElements(key)) check.Need(key, "key");
  }
  for (const TensorView& value : params.value) {
    if (HasElements(value)) check.Need(value, "value");
  }
  if (HasBias(params)) check.Need(params.scores.pse_shift, "pseShift");
  if (HasFullMask(params, shape)) check.Need(params.mask->tensor, "attenMask");
  check.Need(params.scores.learnable_sink, "learnableSink");
  if (shape.paged) check.Need(params.paged->block_table, "blockTable");
  if (shape.prefix > 0) {
    check.Need(params.prefix->key, "keySharedPrefix");
    check.Need(params.prefix->value, "valueSharedPrefix");
  }
  if (QueryIsPadded(params, shape)) check.Need(params.padding->query_size, "queryPaddingSize");
  if (KvIsPadded(params)) check.Need(params.padding->kv_size, "kvPaddingSize");
  if (shape.rope_dim > 0) {
    check.Need(params.rope->query, "queryRope");
    check.Need(params.rope->key, "keyRope");
  }
  NeedQuantisation(params, shape, &check);
  if (check.missing() != nullptr) return RuntimeError(check.missing(), "address", "the address is null");
  return shape.paged ? CheckBlockIds(params, shape) : Status();
}

}  // namespace fia::reference
