// How far a correct result may lie from the exact one.
#ifndef FIA_REFERENCE_BOUNDS_H_
#define FIA_REFERENCE_BOUNDS_H_

#include <cstdint>

#include "fia/attention.h"

namespace fia::reference {

// One output element before it is rounded to the output type, in real arithmetic.
struct ElementValue {
  double exact = 0;
  double low = 0;  // low..high: what the quantised weights allow; both are `exact` without them
  double high = 0;
  double error = 0;  // how far arithmetic may stray from low..high: (e + 2^-18 A) W + tail
};

// The closed range of correct output values and the exact one.
struct ElementRange {
  double exact = 0;
  double low = 0;
  double high = 0;
};

// Spacing of the floating-point type at |x|, the smallest subnormal below the normal range.
double UlpOf(DataType dtype, double x) noexcept;

// e of a row with `keys` attended keys.
double RelativeError(const AttentionParams& params, std::int64_t keys) noexcept;

// Of a floating-point output: one rounding to dtype. Infinite where a bound reaches what the type cannot
// hold.
ElementRange RangeOfFloat(DataType dtype, const ElementValue& value) noexcept;

// Of an int8 output: saturate(round(value * scale + offset)).
ElementRange RangeOfInt8(const ElementValue& value, double scale, double offset) noexcept;

// x to the nearest integer, ties to even, saturated to -128..127.
double SaturateInt8(double x) noexcept;

}  // namespace fia::reference

#endif  // FIA_REFERENCE_BOUNDS_H_
