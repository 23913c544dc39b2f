#include "reference/antiquant.h"

#include <cmath>

#include "reference/storage.h"

namespace fia::reference {

Antiquant::Antiquant(const AttentionParams& params, const CallShape& shape, Side side)
    : params_(params), shape_(shape) {
  if (shape.kind != QueryKind::kFloat || !params.quantisation || !params.quantisation->kv_antiquant) return;
  const KvAntiquant& given = *params.quantisation->kv_antiquant;
  const bool key = side == Side::kKey;
  dim_ = key ? shape.dim : shape.value_dim;
  const TensorView* offset = nullptr;
  if (given.key_scale.present() && given.value_scale.present()) {
    scale_ = key ? &given.key_scale : &given.value_scale;
    offset = key ? &given.key_offset : &given.value_offset;
    mode_ = key ? given.key_mode : given.value_mode;
  } else if (given.scale.present()) {
    scale_ = &given.scale;
    offset = &given.offset;
    mode_ = shape.query_axis == 1 ? given.mode : 0;
    member_ = static_cast<int>(side);
  }
  if (offset != nullptr && offset->present()) offset_ = offset;
}

void Antiquant::SetHead(std::int64_t kv_head) {
  kv_head_ = kv_head;
  if (!active() || mode_ != 0) return;
  channel_scale_.resize(static_cast<std::size_t>(dim_));
  channel_offset_.assign(static_cast<std::size_t>(dim_), 0.0);
  for (std::int64_t d = 0; d < dim_; ++d) {
    channel_scale_[static_cast<std::size_t>(d)] = FactorAt(*scale_, 0, 0, d);
    if (offset_ != nullptr) channel_offset_[static_cast<std::size_t>(d)] = FactorAt(*offset_, 0, 0, d);
  }
}

void Antiquant::Apply(std::int64_t sequence, std::int64_t j, double* row, double* magnitudes) const noexcept {
  double scale = 1.0;
  double offset = 0.0;
  if (mode_ != 0) {
    scale = FactorAt(*scale_, sequence, j, 0);
    if (offset_ != nullptr) offset = FactorAt(*offset_, sequence, j, 0);
  }
  for (std::int64_t d = 0; d < dim_; ++d) {
    if (mode_ == 0) {
      scale = channel_scale_[static_cast<std::size_t>(d)];
      offset = channel_offset_[static_cast<std::size_t>(d)];
    }
    magnitudes[d] = std::fabs(scale) * (std::fabs(row[d]) + std::fabs(offset));
    row[d] = (row[d] + offset) * scale;
  }
}

double Antiquant::FactorAt(const TensorView& view, std::int64_t sequence, std::int64_t j,
                           std::int64_t d) const noexcept {
  const int first_axis = member_ < 0 ? 0 : 1;
  const std::int64_t base = member_ < 0 ? 0 : member_ * view.strides[0];
  // All forms of one mode list the same elements in the same row-major order, leading axes of 1 aside.
  if (mode_ == 0) {
    const bool per_tensor = CountElements(view, first_axis) == 1;
    return ReadNumbered(view, first_axis, per_tensor ? 0 : kv_head_ * dim_ + d, base);
  }
  if (mode_ == 2) return ReadNumbered(view, first_axis, kv_head_, base);
  if (mode_ == 4 || mode_ == 5) {  // (blocks, blockSize), (blocks, Nk, blockSize)
    const CacheSlot slot = SlotOf(params_, sequence, j);
    const std::int64_t head = mode_ == 5 ? kv_head_ * view.strides[1] : 0;
    return ReadElement(view, slot.block * view.strides[0] + head + slot.offset * view.strides[view.rank - 1]);
  }
  // Mode 1: ([1,] B, S); mode 3: ([1,] B, Nk, S).
  const int token_axis = view.rank - 1;
  const int batch_axis = mode_ == 3 ? token_axis - 2 : token_axis - 1;
  const std::int64_t column = shape_.sequences[static_cast<std::size_t>(sequence)].kv_begin + j;
  std::int64_t position = base + sequence * view.strides[batch_axis] + column * view.strides[token_axis];
  if (mode_ == 3) position += kv_head_ * view.strides[token_axis - 1];
  return ReadElement(view, position);
}

}  // namespace fia::reference
