// What 16-bit floating-point classes share: rounding from double, and the operators. C++11.
#ifndef FIA_ACLNN_OPDEV_SMALL_FLOAT_H_
#define FIA_ACLNN_OPDEV_SMALL_FLOAT_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace op {
namespace detail {

// The pattern of a format with `kMantissaBits` explicit mantissa bits and 15 - kMantissaBits exponent bits
// that is nearest to `value`, ties to even. Overflow gives an infinity, NaN a quiet NaN.
template <int kMantissaBits>
inline uint16_t RoundToBits(double value) {
  const int bias = (1 << (14 - kMantissaBits)) - 1;
  const uint64_t infinity = 0x7fffu & ~((1u << kMantissaBits) - 1u);
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint64_t sign = (bits >> 48) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ffu) - 1023;
  uint64_t significand = bits & 0xfffffffffffffu;
  if (exponent == 1024) {
    const uint64_t quiet = significand != 0 ? uint64_t(1) << (kMantissaBits - 1) : 0;
    return static_cast<uint16_t>(sign | infinity | quiet);
  }
  significand |= uint64_t(1) << 52;
  const int below_normal = exponent < 1 - bias ? 1 - bias - exponent : 0;
  const int shift = 52 - kMantissaBits + below_normal;
  if (shift > 53) return static_cast<uint16_t>(sign);  // less than half of the smallest subnormal
  uint64_t rounded = significand >> shift;
  const uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  const uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1u) != 0)) ++rounded;
  // The leading one of a normal number adds one to the exponent field, and so does a carry.
  if (below_normal == 0) rounded += static_cast<uint64_t>(exponent + bias - 1) << kMantissaBits;
  return static_cast<uint16_t>(sign | (rounded < infinity ? rounded : infinity));
}

// The integer nearest to zero from `value`, saturated; NaN gives 0.
template <class Integer>
inline Integer Truncate(double value) {
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) {
    return std::numeric_limits<Integer>::min();
  }
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max())) {
    return std::numeric_limits<Integer>::max();
  }
  return static_cast<Integer>(value);
}

// The type of an operation between a 16-bit float and an arithmetic T: T's own precision when it floats, else
// the 16-bit type.
template <class Self, class T, bool kArithmetic = std::is_arithmetic<T>::value>
struct MixedType {};

template <class Self, class T>
struct MixedType<Self, T, true> {
  typedef typename std::conditional<std::is_floating_point<T>::value, T, Self>::type type;
};

// Operators of `Self`, a class that converts to float and from every arithmetic type. Single precision holds
// enough bits for each operation on two of them to be rounded as if it were rounded once.
template <class Self>
struct SmallFloat {
#define FIA_SMALL_FLOAT_ARITHMETIC(sign)                                                              \
  friend Self operator sign(Self a, Self b) {                                                         \
    return Self(static_cast<float>(a) sign static_cast<float>(b));                                    \
  }                                                                                                   \
  template <class T>                                                                                  \
  friend typename MixedType<Self, T>::type operator sign(Self a, T b) {                               \
    typedef typename MixedType<Self, T>::type Mixed;                                                  \
    return static_cast<Mixed>(a) sign static_cast<Mixed>(b);                                          \
  }                                                                                                   \
  template <class T>                                                                                  \
  friend typename MixedType<Self, T>::type operator sign(T a, Self b) {                               \
    typedef typename MixedType<Self, T>::type Mixed;                                                  \
    return static_cast<Mixed>(a) sign static_cast<Mixed>(b);                                          \
  }                                                                                                   \
  template <class T>                                                                                  \
  friend typename std::enable_if<std::is_convertible<T, float>::value, Self&>::type operator sign##=( \
      Self& a, T b) {                                                                                 \
    return a = Self(a sign b);                                                                        \
  }

#define FIA_SMALL_FLOAT_COMPARISON(sign)                                                                 \
  friend bool operator sign(Self a, Self b) { return static_cast<float>(a) sign static_cast<float>(b); } \
  template <class T>                                                                                     \
  friend typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator sign(Self a, T b) {  \
    return static_cast<double>(a) sign static_cast<double>(b);                                           \
  }                                                                                                      \
  template <class T>                                                                                     \
  friend typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator sign(T a, Self b) {  \
    return static_cast<double>(a) sign static_cast<double>(b);                                           \
  }

  FIA_SMALL_FLOAT_ARITHMETIC(+)
  FIA_SMALL_FLOAT_ARITHMETIC(-)
  FIA_SMALL_FLOAT_ARITHMETIC(*)
  FIA_SMALL_FLOAT_ARITHMETIC(/)
  FIA_SMALL_FLOAT_COMPARISON(==)
  FIA_SMALL_FLOAT_COMPARISON(!=)
  FIA_SMALL_FLOAT_COMPARISON(<)
  FIA_SMALL_FLOAT_COMPARISON(<=)
  FIA_SMALL_FLOAT_COMPARISON(>)
  FIA_SMALL_FLOAT_COMPARISON(>=)
#undef FIA_SMALL_FLOAT_ARITHMETIC
#undef FIA_SMALL_FLOAT_COMPARISON
};

}  // namespace detail
}  // namespace op

#endif  // FIA_ACLNN_OPDEV_SMALL_FLOAT_H_
