// IEEE 754 binary16 as a class that converts to and from the arithmetic types. C++11.
#ifndef FIA_ACLNN_OPDEV_FP16_T_H_
#define FIA_ACLNN_OPDEV_FP16_T_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "aclnn/opdev/small_float.h"

namespace op {

struct fp16_t : detail::SmallFloat<fp16_t> {
  uint16_t val;  // the bit pattern

  fp16_t() : val(0) {}

  // The number nearest to `value`, ties to even; overflow gives an infinity.
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  fp16_t(T value) : val(detail::RoundToBits<10>(static_cast<double>(value))) {}

  static fp16_t FromBits(uint16_t bits) {
    fp16_t result;
    result.val = bits;
    return result;
  }

  operator float() const {
    const uint32_t sign = static_cast<uint32_t>(val & 0x8000u) << 16;
    const uint32_t exponent = (val >> 10) & 0x1fu;
    const uint32_t mantissa = val & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
      const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const uint32_t bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23) | (mantissa << 13);
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }

  fp16_t operator+() const { return *this; }
  fp16_t operator-() const { return FromBits(static_cast<uint16_t>(val ^ 0x8000u)); }

  bool IsInf() const { return (val & 0x7fffu) == 0x7c00u; }
  bool IsNan() const { return (val & 0x7fffu) > 0x7c00u; }

  float toFloat() const { return *this; }
  double toDouble() const { return static_cast<double>(toFloat()); }
  // Toward zero, saturated; NaN gives 0.
  int8_t toInt8() const { return detail::Truncate<int8_t>(toDouble()); }
  uint8_t toUInt8() const { return detail::Truncate<uint8_t>(toDouble()); }
  int16_t toInt16() const { return detail::Truncate<int16_t>(toDouble()); }
  uint16_t toUInt16() const { return detail::Truncate<uint16_t>(toDouble()); }
  int32_t toInt32() const { return detail::Truncate<int32_t>(toDouble()); }
  uint32_t toUInt32() const { return detail::Truncate<uint32_t>(toDouble()); }
};

}  // namespace op

#endif  // FIA_ACLNN_OPDEV_FP16_T_H_
