// Elements of the caller's tensors as float64.
#ifndef FIA_REFERENCE_ELEMENT_H_
#define FIA_REFERENCE_ELEMENT_H_

#include <cstdint>

#include "fia/tensor.h"

namespace fia::reference {

// A tensor that is given and has no axis of length 0.
bool HasElements(const TensorView& view) noexcept;

// Product of the dims from `first_axis` on.
std::int64_t CountElements(const TensorView& view, int first_axis = 0) noexcept;

// The element `position` elements after the one whose indices are all zero. bool, integers, float types;
// int4 positions count nibbles.
double ReadElement(const TensorView& view, std::int64_t position) noexcept;

// The element with row-major number `number` among the axes from `first_axis` on, `position` elements
// further.
double ReadNumbered(const TensorView& view, int first_axis, std::int64_t number,
                    std::int64_t position = 0) noexcept;

// The first element of an int64 tensor.
std::int64_t ReadInt64(const TensorView& view) noexcept;

// The first element of a scale that is float32, or uint64 whose low half is a float32 pattern.
double ReadDeqScale(const TensorView& view) noexcept;

// One head's elements: number first + d on the dim axis, `position` elements after the zero element.
struct HeadRow {
  const TensorView* view = nullptr;
  std::int64_t position = 0;
  std::int64_t first = 0;
};

// to[d] = element d of the row, for d in 0..count-1. The dim axis is the last one; of a 5-axis cache it is
// axes 2 (d / D0) and 4 (d % D0); of int32 the last one with eight nibbles an element.
void ReadRow(const HeadRow& row, std::int64_t count, double* to) noexcept;

}  // namespace fia::reference

#endif  // FIA_REFERENCE_ELEMENT_H_
