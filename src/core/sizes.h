// Arithmetic on sizes that callers choose: every product and sum says whether it overflowed.
#ifndef FIA_CORE_SIZES_H_
#define FIA_CORE_SIZES_H_

#include <cstdint>

#include "fia/tensor.h"

namespace fia {

// *result = a * b; false if that does not fit.
inline bool MultiplyChecked(std::int64_t a, std::int64_t b, std::int64_t* result) noexcept {
  return !__builtin_mul_overflow(a, b, result);
}

// *result = a + b; false if that does not fit.
inline bool AddChecked(std::int64_t a, std::int64_t b, std::int64_t* result) noexcept {
  return !__builtin_add_overflow(a, b, result);
}

inline std::int64_t CeilDiv(std::int64_t a, std::int64_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

inline std::int64_t RoundUp(std::int64_t a, std::int64_t b) noexcept { return CeilDiv(a, b) * b; }

// Bits of one element; 0 for a type the library does not know.
inline std::int64_t BitsOf(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kInt4:
      return 4;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return 8;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16:
      return 16;
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUint32:
      return 32;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
      return 64;
    default:
      return 0;
  }
}

}  // namespace fia

#endif  // FIA_CORE_SIZES_H_
