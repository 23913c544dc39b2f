// Strided elements of any type to a row of float32: queries, biases and masks.
#ifndef FIA_KERNELS_CONVERT_H_
#define FIA_KERNELS_CONVERT_H_

#include <cstdint>

#include "fia/tensor.h"

namespace fia::FIA_ISA_NAMESPACE {

// Converts `count` elements `stride` bytes apart. `to` has room for `count` rounded up to a packet, and the
// floats past `count` become 0. `type` is float16, bfloat16, float32 or int8; others count as int8.
void ConvertRow(DataType type, const void* from, std::int64_t stride, std::int64_t count, float* to);

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_CONVERT_H_
