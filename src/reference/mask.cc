#include "reference/mask.h"

#include <algorithm>

namespace fia::reference {
namespace {

constexpr std::int64_t kTokenLimit = 2147483647;

std::int64_t Clamp(std::int64_t tokens) noexcept { return std::clamp(tokens, -kTokenLimit, kTokenLimit); }

}  // namespace

bool HasFullMask(const AttentionParams& params, const CallShape& shape) noexcept {
  if (!params.mask || !HasElements(params.mask->tensor)) return false;
  return shape.decode || params.mask->sparse_mode == 0 || params.mask->sparse_mode == 1;
}

bool HasBias(const AttentionParams& params) noexcept { return HasElements(params.scores.pse_shift); }

KeyRange KeysInBand(const AttentionParams& params, const CallShape& shape, std::int64_t sequence,
                    std::int64_t i) noexcept {
  const std::int64_t keys = shape.KeyCount(sequence);
  if (!params.mask || shape.decode) return {0, keys};
  const std::int64_t shift = keys - shape.sequences[static_cast<std::size_t>(sequence)].query_length;
  const std::int64_t before = Clamp(params.mask->pre_tokens);
  const std::int64_t after = Clamp(params.mask->next_tokens);
  std::int64_t first = 0;
  std::int64_t last = keys - 1;
  switch (params.mask->sparse_mode) {
    case 0:
      if (!HasFullMask(params, shape) || shape.left_padded) break;
      first = i - before;
      last = i + after;
      break;
    case 2:
      last = i;
      break;
    case 3:
      last = i + shift;
      break;
    case 4:
      first = i + shift - before;
      last = i + shift + after;
      break;
    default:
      break;
  }
  const std::int64_t begin = std::max<std::int64_t>(first, 0);
  return {begin, std::max(begin, std::min(last + 1, keys))};
}

bool IsMasked(const AttentionParams& params, const CallShape& shape, std::int64_t sequence, std::int64_t i,
              std::int64_t j) noexcept {
  const TensorView& mask = params.mask->tensor;
  const SequenceShape& own = shape.sequences[static_cast<std::size_t>(sequence)];
  std::int64_t position = (own.kv_begin + j) * mask.strides[mask.rank - 1];
  const bool row_axis = mask.rank > 2 || shape.query_axis > 1;
  const bool batch_axis = mask.rank > 2 || shape.query_axis == 1;
  if (row_axis) position += (own.query_begin + i) * mask.strides[mask.rank - 2];
  if (batch_axis && mask.dims[0] > 1) position += sequence * mask.strides[0];
  return ReadElement(mask, position) != 0.0;
}

double BiasOf(const AttentionParams& params, const CallShape& shape, std::int64_t sequence, std::int64_t head,
              std::int64_t i, std::int64_t j) noexcept {
  const TensorView& bias = params.scores.pse_shift;
  const SequenceShape& own = shape.sequences[static_cast<std::size_t>(sequence)];
  std::int64_t position =
      head * bias.strides[1] + (own.query_begin + i) * bias.strides[2] + (own.kv_begin + j) * bias.strides[3];
  if (bias.dims[0] > 1) position += sequence * bias.strides[0];
  return ReadElement(bias, position);
}

}  // namespace fia::reference
