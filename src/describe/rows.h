// Tensors of rows: query, key, value, rope, output and lse in every layout and cache form.
#ifndef FIA_DESCRIBE_ROWS_H_
#define FIA_DESCRIBE_ROWS_H_

#include <cstdint>

#include "core/call.h"
#include "core/layout.h"
#include "core/problem.h"

namespace fia {

// Axis numbers of a tensor of rows, -1 where it has no such axis.
struct RowAxes {
  int outer;  // sequences, or blocks of a paged cache
  int token;
  int head;   // -1: heads lie in the dim axis
  int chunk;  // FRACTAL_NZ: d / D0
  int dim;
};

RowAxes AxesOfRows(Form form) noexcept;
RowAxes AxesOfCache(CacheForm cache) noexcept;

// The rows of `dim` elements of type `element` in `view`. `element` differs from the view's dtype when int4
// elements come eight in an int32.
RowTensor DescribeRows(const TensorView& view, std::int32_t slot, DataType element, const RowAxes& axes,
                       std::int64_t dim) noexcept;

}  // namespace fia

#endif  // FIA_DESCRIBE_ROWS_H_
