// How the outputs of a call that computes nothing are cut into work items: runs of rows along the last axis.
#ifndef FIA_CORE_FILL_H_
#define FIA_CORE_FILL_H_

#include <algorithm>
#include <cstdint>

#include "core/sizes.h"
#include "fia/tensor.h"

namespace fia {

struct FillRows {
  std::int64_t rows = 0;     // of all axes but the last
  std::int64_t dim = 0;      // elements of a row
  std::int64_t per_run = 1;  // rows of one item

  std::int64_t runs() const noexcept { return CeilDiv(rows, per_run); }
};

// Rows of `view`; none when it is absent or empty. Phase one has checked that the elements can be counted.
inline FillRows FillRowsOf(const TensorView& view) noexcept {
  constexpr std::int64_t kRunElements = std::int64_t{1} << 16;
  if (!view.present() || std::any_of(view.dims, view.dims + view.rank, [](auto dim) { return dim == 0; })) {
    return {};
  }
  FillRows fill{1, view.rank == 0 ? 1 : view.dims[view.rank - 1], 1};
  for (int axis = 0; axis + 1 < view.rank; ++axis) fill.rows *= view.dims[axis];
  fill.per_run = std::max<std::int64_t>(1, kRunElements / fill.dim);
  return fill;
}

}  // namespace fia

#endif  // FIA_CORE_FILL_H_
