// Single numbers in the caller's memory, at any alignment.
#ifndef FIA_EXEC_SCALAR_H_
#define FIA_EXEC_SCALAR_H_

#include <cstdint>
#include <cstring>

#include "fia/half.h"
#include "fia/tensor.h"

namespace fia {

template <class T>
T ReadAs(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A scale, offset or sink. uint64 holds the pattern of a float32 in its low half.
inline float ReadFloat(const void* from, DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kFloat16:
      return HalfToFloat(ReadAs<std::uint16_t>(from));
    case DataType::kBfloat16:
      return Bfloat16ToFloat(ReadAs<std::uint16_t>(from));
    case DataType::kUint64: {
      const auto bits = static_cast<std::uint32_t>(ReadAs<std::uint64_t>(from));
      return ReadAs<float>(&bits);
    }
    default:
      return ReadAs<float>(from);
  }
}

}  // namespace fia

#endif  // FIA_EXEC_SCALAR_H_
