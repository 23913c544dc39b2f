// Shapes as values, and the shapes that layouts give to tensors.
#ifndef FIA_CHECK_SHAPE_H_
#define FIA_CHECK_SHAPE_H_

#include <cstdint>
#include <initializer_list>

#include "core/call.h"
#include "core/layout.h"
#include "core/sizes.h"
#include "fia/tensor.h"

namespace fia::check {

struct Shape {
  int rank = 0;
  std::int64_t dims[kMaxRank] = {};

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) noexcept {
    for (const std::int64_t size : sizes) dims[rank++] = size;
  }
};

// a * b of sizes >= 0, INT64_MAX where that does not fit: no tensor has such an axis.
inline std::int64_t Saturated(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  return MultiplyChecked(a, b, &product) ? product : INT64_MAX;
}

// The dims of a view whose rank is in 0..kMaxRank.
Shape ShapeOf(const TensorView& view) noexcept;

bool HasShape(const TensorView& view, const Shape& shape) noexcept;

// The number of elements; INT64_MAX where that does not fit, -1 with a negative dim or a rank above kMaxRank.
std::int64_t CountOf(const TensorView& view) noexcept;

// Some axis is 0 and none is negative.
inline bool IsEmpty(const TensorView& view) noexcept { return CountOf(view) == 0; }

// Sizes along the axes of a form. Packed forms have no batch axis.
struct FormSizes {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t dim;
};

Shape ShapeOf(Form form, const FormSizes& sizes) noexcept;

// Sizes of a paged cache.
struct CacheSizes {
  std::int64_t blocks;
  std::int64_t block_size;
  std::int64_t heads;
  std::int64_t dim;
};

// Elements of the innermost axis of a FRACTAL_NZ cache: 32 bytes; int4: 64 elements.
inline std::int64_t FractalDim(DataType dtype) noexcept {
  const std::int64_t bits = BitsOf(dtype);
  return bits > 0 ? 256 / bits : 1;
}

Shape ShapeOf(CacheForm form, const CacheSizes& sizes, DataType dtype) noexcept;

}  // namespace fia::check

#endif  // FIA_CHECK_SHAPE_H_
