// bfloat16 (the upper half of a float) as a class that converts to and from the arithmetic types. C++11.
#ifndef FIA_ACLNN_OPDEV_BFLOAT16_H_
#define FIA_ACLNN_OPDEV_BFLOAT16_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "aclnn/opdev/small_float.h"

namespace op {

struct bfloat16 : detail::SmallFloat<bfloat16> {
  uint16_t value;  // the bit pattern

  bfloat16() : value(0) {}

  // The number nearest to `number`, ties to even; overflow gives an infinity.
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  bfloat16(T number) : value(detail::RoundToBits<7>(static_cast<double>(number))) {}

  static bfloat16 FromBits(uint16_t bits) {
    bfloat16 result;
    result.value = bits;
    return result;
  }

  operator float() const {
    const uint32_t bits = static_cast<uint32_t>(value) << 16;
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }

  bfloat16 operator+() const { return *this; }
  bfloat16 operator-() const { return FromBits(static_cast<uint16_t>(value ^ 0x8000u)); }
};

}  // namespace op

#endif  // FIA_ACLNN_OPDEV_BFLOAT16_H_
