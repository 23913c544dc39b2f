#include "describe/rows.h"

#include "describe/strides.h"

namespace fia {
namespace {

constexpr std::int64_t kInt4PerWord = 8;

// Int4 elements that come eight in an int32: one run of nibbles where the words are adjacent, else chunks.
// Returns the bytes of a row.
std::int64_t DescribeWords(const TensorView& view, int dim_axis, std::int64_t dim, RowTensor* rows) noexcept {
  const std::int64_t word_stride = BytesOf(view.dtype, view.strides[dim_axis]);
  if (view.dims[dim_axis] <= 1 || word_stride == BytesOf(view.dtype, 1)) {
    rows->chunk = dim;
    return dim / 2;
  }
  rows->chunk = kInt4PerWord;
  rows->chunk_stride = word_stride;
  return dim / kInt4PerWord * word_stride;
}

// Sets how the elements of a row lie. Returns the bytes of a row.
std::int64_t DescribeDim(const TensorView& view, const RowAxes& axes, std::int64_t dim,
                         RowTensor* rows) noexcept {
  if (rows->dtype == DataType::kInt4) {
    if (view.dtype != DataType::kInt4) return DescribeWords(view, axes.dim, dim, rows);
    rows->chunk = dim;
    return BytesOf(DataType::kInt4, dim);
  }
  rows->dim_stride = AxisBytes(view, axes.dim);
  rows->chunk = axes.chunk < 0 ? dim : view.dims[axes.dim];
  rows->chunk_stride = AxisBytes(view, axes.chunk);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(dim) *
                                   static_cast<std::uint64_t>(rows->dim_stride));
}

}  // namespace

RowAxes AxesOfRows(Form form) noexcept {
  const FormAxes axes = AxesOf(form);
  return {axes.batch, axes.token, axes.head, -1, axes.dim};
}

RowAxes AxesOfCache(CacheForm cache) noexcept {
  switch (cache) {
    case CacheForm::kBlockTokenHidden:
      return {0, 1, -1, -1, 2};
    case CacheForm::kBlockHeadTokenDim:
      return {0, 2, 1, -1, 3};
    default:
      return {0, 3, 1, 2, 4};
  }
}

RowTensor DescribeRows(const TensorView& view, std::int32_t slot, DataType element, const RowAxes& axes,
                       std::int64_t dim) noexcept {
  RowTensor rows;
  rows.slot = slot;
  rows.dtype = element;
  rows.row_stride = AxisBytes(view, axes.token);
  const std::int64_t row_bytes = DescribeDim(view, axes, dim, &rows);
  rows.head_stride = axes.head < 0 ? row_bytes : AxisBytes(view, axes.head);
  return rows;
}

}  // namespace fia
