#include "check/shape.h"

namespace fia::check {

Shape ShapeOf(const TensorView& view) noexcept {
  Shape shape;
  shape.rank = view.rank;
  for (int axis = 0; axis < view.rank; ++axis) shape.dims[axis] = view.dims[axis];
  return shape;
}

bool HasShape(const TensorView& view, const Shape& shape) noexcept {
  if (view.rank != shape.rank) return false;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (view.dims[axis] != shape.dims[axis]) return false;
  }
  return true;
}

std::int64_t CountOf(const TensorView& view) noexcept {
  if (view.rank < 0 || view.rank > kMaxRank) return -1;
  std::int64_t count = 1;
  bool empty = false;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] < 0) return -1;
    if (view.dims[axis] == 0) empty = true;
    count = Saturated(count, view.dims[axis]);
  }
  return empty ? 0 : count;
}

Shape ShapeOf(Form form, const FormSizes& sizes) noexcept {
  const FormAxes axes = AxesOf(form);
  Shape shape;
  shape.rank = axes.rank;
  if (axes.batch >= 0) shape.dims[axes.batch] = sizes.batch;
  shape.dims[axes.token] = sizes.tokens;
  if (axes.head >= 0) {
    shape.dims[axes.head] = sizes.heads;
    shape.dims[axes.dim] = sizes.dim;
  } else {
    shape.dims[axes.dim] = Saturated(sizes.heads, sizes.dim);
  }
  return shape;
}

Shape ShapeOf(CacheForm form, const CacheSizes& sizes, DataType dtype) noexcept {
  switch (form) {
    case CacheForm::kBlockTokenHidden:
      return {sizes.blocks, sizes.block_size, Saturated(sizes.heads, sizes.dim)};
    case CacheForm::kBlockHeadTokenDim:
      return {sizes.blocks, sizes.heads, sizes.block_size, sizes.dim};
    case CacheForm::kFractalNz: {
      const std::int64_t fraction = FractalDim(dtype);
      return {sizes.blocks, sizes.heads, sizes.dim / fraction, sizes.block_size, fraction};
    }
    case CacheForm::kNone:
      break;
  }
  return {};
}

}  // namespace fia::check
