// 16-bit floating-point numbers as bit patterns. Pure functions, thread safe, exact or rounded to nearest
// even.
#ifndef FIA_HALF_H_
#define FIA_HALF_H_

#include <cstdint>
#include <cstring>

namespace fia {

// float32 of an IEEE 754 binary16 bit pattern; exact, subnormals, infinities and NaN included.
inline float HalfToFloat(std::uint16_t half) noexcept {
  // Exponent and mantissa moved into float's places are 2^112 times too small, subnormals included.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fffu) << 13;
  float scaled;
  std::memcpy(&scaled, &magnitude, sizeof scaled);
  scaled *= 0x1p112f;
  std::uint32_t bits;
  std::memcpy(&bits, &scaled, sizeof bits);
  if (magnitude >= 0x0f800000u) bits = magnitude | 0x7f800000u;  // infinity, NaN
  bits |= static_cast<std::uint32_t>(half & 0x8000u) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// IEEE 754 binary16 bit pattern nearest to a float32, ties to even; overflow gives an infinity.
inline std::uint16_t FloatToHalf(float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // result is subnormal: let float addition round at 2^-24
    float shifted;
    std::memcpy(&shifted, &magnitude, sizeof shifted);
    shifted += 0.5f;  // spacing of floats in [0.5, 1) is 2^-24
    std::uint32_t rounded;
    std::memcpy(&rounded, &shifted, sizeof rounded);
    return static_cast<std::uint16_t>(sign | (rounded - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

// float32 of a bfloat16 bit pattern; exact.
inline float Bfloat16ToFloat(std::uint16_t bfloat) noexcept {
  const std::uint32_t bits = static_cast<std::uint32_t>(bfloat) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// bfloat16 bit pattern nearest to a float32, ties to even; NaN stays NaN.
inline std::uint16_t FloatToBfloat16(float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace fia

#endif  // FIA_HALF_H_
