// Sizes of element types.
#ifndef FIA_ACLNN_DATA_TYPE_H_
#define FIA_ACLNN_DATA_TYPE_H_

#include <cstdint>

#include "fia/tensor.h"

namespace fia::aclnn {

// Bits of one element of any type that the C interface has; 0 for strings and unknown types.
std::int64_t BitsOf(DataType dtype) noexcept;

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_DATA_TYPE_H_
