#include "reference/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fia::reference {
namespace {

struct FloatFormat {
  int fraction_bits;
  int least_exponent;  // of normal numbers
  double overflow;     // the first power of two that the type cannot hold
};

FloatFormat FormatOf(DataType dtype) noexcept {
  if (dtype == DataType::kFloat16) return {10, -14, 0x1p16};
  if (dtype == DataType::kBfloat16) return {7, -126, 0x1p128};
  return {23, -126, 0x1p128};
}

}  // namespace

double UlpOf(DataType dtype, double x) noexcept {
  const FloatFormat format = FormatOf(dtype);
  const int exponent = x == 0 ? format.least_exponent : std::max(std::ilogb(x), format.least_exponent);
  return std::ldexp(1.0, exponent - format.fraction_bits);
}

double RelativeError(const AttentionParams& params, std::int64_t keys) noexcept {
  DataType dtype = params.attention_out.dtype;
  if (dtype == DataType::kInt8) dtype = params.query.dtype;
  if (dtype == DataType::kInt8) dtype = DataType::kFloat16;  // int8 in, int8 out: counted as float16
  const bool narrow = params.scores.inner_precise == 1 || params.scores.inner_precise == 3;
  double error = 0x1p-16;
  if (dtype == DataType::kFloat32) error = 0x1p-17;
  if (narrow && dtype == DataType::kFloat16) error = 0x1p-11;
  if (narrow && dtype == DataType::kBfloat16) error = 0x1p-8;
  return error * std::max(1.0, static_cast<double>(keys) * 0x1p-20);
}

ElementRange RangeOfFloat(DataType dtype, const ElementValue& value) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double overflow = FormatOf(dtype).overflow;
  ElementRange range;
  range.exact = value.exact;
  range.low = value.low - value.error - UlpOf(dtype, value.low);
  range.high = value.high + value.error + UlpOf(dtype, value.high);
  if (range.low <= -overflow) range.low = -kInfinity;
  if (range.high >= overflow) range.high = kInfinity;
  return range;
}

ElementRange RangeOfInt8(const ElementValue& value, double scale, double offset) noexcept {
  double low = value.low * scale;
  double high = value.high * scale;
  if (low > high) std::swap(low, high);
  const double slack = value.error * std::fabs(scale);
  ElementRange range;
  range.exact = value.exact * scale + offset;
  range.low = SaturateInt8(low + offset);
  range.high = SaturateInt8(high + offset);
  if (slack == 0) return range;
  // The integers within slack + 1/2: round(x), and a neighbour where x lies within slack of a half.
  range.low = std::clamp(std::ceil(low + offset - slack - 0.5), -128.0, 127.0);
  range.high = std::clamp(std::floor(high + offset + slack + 0.5), -128.0, 127.0);
  return range;
}

double SaturateInt8(double x) noexcept { return std::clamp(std::nearbyint(x), -128.0, 127.0); }

}  // namespace fia::reference
