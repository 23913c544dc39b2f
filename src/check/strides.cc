// Rules on the strides of single tensors.
#include <algorithm>
#include <array>

#include "check/rules.h"
#include "check/visit.h"

namespace fia::check {
namespace {

struct Axis {
  std::int64_t dim;
  std::int64_t stride;
};

// Axes of more than one element, the widest stride first.
struct Axes {
  std::array<Axis, kMaxRank> axis;
  int count = 0;
};

Axes SortedAxes(const TensorView& view) noexcept {
  Axes axes;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] > 1) {
      axes.axis[static_cast<std::size_t>(axes.count++)] = {view.dims[axis], view.strides[axis]};
    }
  }
  std::sort(axes.axis.begin(), axes.axis.begin() + axes.count,
            [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  return axes;
}

// Looks for two index vectors of one address: differences x, |x_i| < dim_i, not all zero, with
// distance + sum x_i * stride_i == 0 over the axes from `first` on. What the narrower axes can reach bounds
// each x_i, and `budget` bounds the search: an arrangement too tangled to tell apart counts as overlapping.
bool Meets(const Axes& axes, int first, std::int64_t distance, bool zero_so_far, int* budget) noexcept {
  if (first == axes.count) return distance == 0 && !zero_so_far;
  if (--*budget < 0) return true;
  std::int64_t reach = 0;
  for (int later = first + 1; later < axes.count; ++later) {
    const Axis& axis = axes.axis[static_cast<std::size_t>(later)];
    reach += (axis.dim - 1) * axis.stride;
  }
  const auto [dim, stride] = axes.axis[static_cast<std::size_t>(first)];
  if (stride == 0) return true;
  const std::int64_t low = std::max(-(dim - 1), -((distance + reach) / stride));
  const std::int64_t high = std::min(dim - 1, (reach - distance) / stride);
  // Of a vector and its negative one is enough: the first difference that is not 0 is positive.
  for (std::int64_t x = zero_so_far ? std::max<std::int64_t>(low, 0) : low; x <= high; ++x) {
    if (Meets(axes, first + 1, distance + x * stride, zero_so_far && x == 0, budget)) return true;
  }
  return false;
}

bool OverlapsItself(const TensorView& view) noexcept {
  int budget = 10000;
  return Meets(SortedAxes(view), 0, 0, true, &budget);
}

// The byte range that the view spans fits in 64 bits.
bool SpanFits(const TensorView& view) noexcept {
  std::int64_t span = 1;
  for (int axis = 0; axis < view.rank; ++axis) {
    std::int64_t length = 0;
    if (!MultiplyChecked(view.dims[axis] - 1, view.strides[axis], &length)) return false;
    if (!AddChecked(span, length, &span)) return false;
  }
  return MultiplyChecked(span, 8, &span);
}

// Rows of nibbles are adjacent and start at whole bytes.
bool Int4RowsAreBytes(const TensorView& view) noexcept {
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] <= 1) continue;
    const bool last = axis == view.rank - 1;
    if (last ? view.strides[axis] != 1 : view.strides[axis] % 2 != 0) return false;
  }
  return true;
}

// What is wrong with the strides, null if nothing.
const char* FaultOf(const Visited& visited) noexcept {
  const TensorView& view = *visited.view;
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.strides[axis] < 0) return "they must be >= 0";
  }
  if (IsEmpty(view)) return nullptr;
  if (!SpanFits(view)) return "what they span must fit in 64 bits";
  if (view.dtype == DataType::kInt4 && !Int4RowsAreBytes(view)) {
    return "int4 needs an innermost stride of 1 and rows that start at whole bytes";
  }
  const bool output =
      visited.argument == Argument::kAttentionOut || visited.argument == Argument::kSoftmaxLse;
  if (output && OverlapsItself(view)) return "elements of an output must not overlap";
  return nullptr;
}

Shape StridesOf(const TensorView& view) noexcept {
  Shape strides;
  strides.rank = view.rank;
  for (int axis = 0; axis < view.rank; ++axis) strides.dims[axis] = view.strides[axis];
  return strides;
}

}  // namespace

bool CheckStrides(Context& context) {
  return VisitAll(context, [&context](const Visited& visited) {
    const char* fault = visited.use == Use::kUsed ? FaultOf(visited) : nullptr;
    if (fault == nullptr) return true;
    const TensorView& view = *visited.view;
    return Refuse(context, visited.argument,
                  Text(visited.Member(), "got strides ", StridesOf(view), " for shape ", view, ", ", fault));
  });
}

}  // namespace fia::check
