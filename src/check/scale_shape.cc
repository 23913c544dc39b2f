#include "check/scale_shape.h"

#include "check/shape.h"

namespace fia::check {
namespace {

std::int64_t SizeOf(char letter, const PatternSizes& sizes) noexcept {
  switch (letter) {
    case 'B':
      return sizes.batch;
    case 'N':
      return sizes.heads;
    case 'D':
      return sizes.dim;
    case 'H':
      return Saturated(sizes.heads, sizes.dim);
    case 'S':
      return sizes.columns;
    case 'K':
      return sizes.blocks;
    case 'P':
      return sizes.block_size;
    default:
      return letter - '0';
  }
}

}  // namespace

bool Matches(const TensorView& view, std::string_view pattern, const PatternSizes& sizes) noexcept {
  if (view.rank != static_cast<int>(pattern.size())) return false;
  for (int axis = 0; axis < view.rank; ++axis) {
    const char letter = pattern[static_cast<std::size_t>(axis)];
    const std::int64_t size = SizeOf(letter, sizes);
    if (letter == 'S' ? view.dims[axis] < size : view.dims[axis] != size) return false;
  }
  return true;
}

std::string Filled(std::string_view pattern, const PatternSizes& sizes) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < pattern.size(); ++axis) {
    if (axis > 0) text += ',';
    if (pattern[axis] == 'S') text += ">=";
    text += std::to_string(SizeOf(pattern[axis], sizes));
  }
  return text + ")";
}

}  // namespace fia::check
