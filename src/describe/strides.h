// Strides of the caller's views, in bytes.
#ifndef FIA_DESCRIBE_STRIDES_H_
#define FIA_DESCRIBE_STRIDES_H_

#include <cstdint>

#include "core/sizes.h"
#include "fia/tensor.h"

namespace fia {

// Bytes of `elements` adjacent elements; int4 elements come in pairs.
inline std::int64_t BytesOf(DataType dtype, std::int64_t elements) noexcept {
  const std::int64_t bits = BitsOf(dtype);
  if (bits < 8) return elements / 2;
  // A caller's stride may be any number where it is never stepped over: wrap instead of overflowing.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(elements) *
                                   static_cast<std::uint64_t>(bits / 8));
}

// Bytes between neighbours along `axis`. 0 for axis -1 and for an axis of one element, whatever its stride
// says: so a mask or bias of batch 1 serves every sequence.
inline std::int64_t AxisBytes(const TensorView& view, int axis) noexcept {
  if (axis < 0 || view.dims[axis] <= 1) return 0;
  return BytesOf(view.dtype, view.strides[axis]);
}

}  // namespace fia

#endif  // FIA_DESCRIBE_STRIDES_H_
