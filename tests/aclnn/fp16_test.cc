// The 16-bit float classes, held against a search over all their values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/bfloat16.h"
#include "aclnn/opdev/fp16_t.h"
#include "support/rng.h"

namespace fia::testing {
namespace {

// A format by its definition: the value of a pattern is (-1)^s * 2^(e - bias) * 1.m, or 0.m at e = 0.
struct Definition {
  int mantissa_bits;
  int bias;

  double Value(unsigned bits) const {
    const unsigned mantissa = bits & ((1u << mantissa_bits) - 1u);
    const int exponent = static_cast<int>((bits & 0x7fffu) >> mantissa_bits);
    const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
  }

  unsigned infinity() const { return static_cast<unsigned>(2 * bias + 1) << mantissa_bits; }

  // The nearest pattern, found by bisection over the patterns of |value|; ties go to the even one.
  unsigned Nearest(double value) const {
    const double magnitude = std::abs(value);
    unsigned low = 0,
             high = infinity();  // Value(infinity) is the value one step past the largest: 2^(bias + 1)
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (Value(middle) <= magnitude ? low : high) = middle;
    }
    if (magnitude >= Value(high)) low = high;
    const double below = magnitude - Value(low), above = Value(high) - magnitude;
    const unsigned nearest = low == high || below < above || (below == above && low % 2 == 0) ? low : high;
    return nearest | (std::signbit(value) ? 0x8000u : 0u);
  }
};

constexpr Definition kHalf = {10, 15};
constexpr Definition kBfloat = {7, 127};

unsigned Bits(op::fp16_t number) { return number.val; }
unsigned Bits(op::bfloat16 number) { return number.value; }

template <class Number>
void CheckAllPatterns(const Definition& definition) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const Number number = Number::FromBits(static_cast<std::uint16_t>(bits));
    const float value = number;
    const unsigned magnitude = bits & 0x7fffu;
    if (magnitude > definition.infinity()) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Number(value)))) << bits;
      continue;
    }
    const double expected = magnitude == definition.infinity()
                                ? std::copysign(INFINITY, definition.Value(bits))
                                : definition.Value(bits);
    ASSERT_EQ(static_cast<double>(value), expected) << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000u) << bits;
    ASSERT_EQ(Bits(Number(value)), bits);
    ASSERT_EQ(Bits(Number(static_cast<double>(value))), bits);
    ASSERT_EQ(Bits(-number), bits ^ 0x8000u);
  }
}

// Every midpoint of neighbours, its own neighbours in double, and random numbers of every size.
template <class Number>
void CheckRounding(const Definition& definition) {
  for (unsigned bits = 0; bits < definition.infinity(); ++bits) {
    const double midpoint = (definition.Value(bits) + definition.Value(bits + 1)) / 2;
    for (const double value : {midpoint, std::nextafter(midpoint, 0.0), std::nextafter(midpoint, INFINITY)}) {
      ASSERT_EQ(Bits(Number(value)), definition.Nearest(value)) << value;
      ASSERT_EQ(Bits(Number(-value)), definition.Nearest(-value)) << value;
    }
  }
  constexpr std::uint64_t kSeed = 20240611;
  Rng rng(kSeed);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::ldexp(rng.Uniform(-2, 2), static_cast<int>(rng.Between(-160, 140)));
    ASSERT_EQ(Bits(Number(value)), definition.Nearest(value)) << value << " seed " << kSeed;
    const auto single = static_cast<float>(value);
    ASSERT_EQ(Bits(Number(single)), definition.Nearest(static_cast<double>(single))) << single;
  }
  for (const double value : {1e300, 1e-300, 5e-324, 0.0, -0.0}) {
    ASSERT_EQ(Bits(Number(value)), definition.Nearest(value)) << value;
  }
  ASSERT_EQ(Bits(Number(INFINITY)), definition.infinity());
  ASSERT_EQ(Bits(Number(-INFINITY)), definition.infinity() | 0x8000u);
}

TEST(Fp16, EveryPatternConvertsThereAndBack) { CheckAllPatterns<op::fp16_t>(kHalf); }
TEST(Fp16, RoundsToNearestEven) { CheckRounding<op::fp16_t>(kHalf); }
TEST(Bfloat16, EveryPatternConvertsThereAndBack) { CheckAllPatterns<op::bfloat16>(kBfloat); }
TEST(Bfloat16, RoundsToNearestEven) { CheckRounding<op::bfloat16>(kBfloat); }

TEST(Fp16, TheRuntimesConversionsAgree) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const auto half = op::fp16_t::FromBits(static_cast<std::uint16_t>(bits));
    const float value = aclFloat16ToFloat(half.val);
    if (half.IsNan()) {
      ASSERT_TRUE(std::isnan(value));
      continue;
    }
    ASSERT_EQ(value, half.toFloat());
    ASSERT_EQ(aclFloatToFloat16(value), half.val);
    const float between = value * 1.0003f;
    ASSERT_EQ(aclFloatToFloat16(between), op::fp16_t(between).val);
  }
}

TEST(Fp16, ArithmeticRoundsTheExactResultOnce) {
  constexpr std::uint64_t kSeed = 7;
  Rng rng(kSeed);
  for (int i = 0; i < 200000; ++i) {
    const auto a = op::fp16_t::FromBits(static_cast<std::uint16_t>(rng.Bits()));
    const auto b = op::fp16_t::FromBits(static_cast<std::uint16_t>(rng.Bits()));
    if (!std::isfinite(a.toFloat()) || !std::isfinite(b.toFloat())) continue;
    const double x = a.toDouble(), y = b.toDouble();  // sums and products are exact in double
    ASSERT_EQ((a + b).val & 0x7fffu, kHalf.Nearest(x + y) & 0x7fffu) << x << ' ' << y;
    ASSERT_EQ((a - b).val & 0x7fffu, kHalf.Nearest(x - y) & 0x7fffu) << x << ' ' << y;
    ASSERT_EQ((a * b).val, kHalf.Nearest(x * y)) << x << ' ' << y;
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a == b, x == y);
    if (y != 0) {
      ASSERT_EQ((a / b).val, kHalf.Nearest(x / y)) << x << ' ' << y;
    }
  }
}

TEST(Fp16, MixesWithTheArithmeticTypes) {
  op::fp16_t half = 1.5f;
  static_assert(std::is_same<decltype(half + half), op::fp16_t>::value, "");
  static_assert(std::is_same<decltype(half * 2), op::fp16_t>::value, "");
  static_assert(std::is_same<decltype(half * 2.0f), float>::value, "");
  static_assert(std::is_same<decltype(2.0 - half), double>::value, "");
  static_assert(sizeof(op::fp16_t) == 2 && std::is_trivially_copyable<op::fp16_t>::value, "");
  static_assert(sizeof(op::bfloat16) == 2 && std::is_standard_layout<op::bfloat16>::value, "");
  EXPECT_EQ((half * 2).toFloat(), 3.0f);
  EXPECT_EQ(2.0 - half, 0.5);
  EXPECT_TRUE(half == 1.5 && half > 1 && 2 > half && half != 1.25f && half <= 1.5f);
  half += 1;
  half *= 2.0;
  half -= op::fp16_t(1);
  half /= 2.0f;
  EXPECT_EQ(half.toFloat(), 2.0f);
  half = 7;
  EXPECT_EQ(half.val, 0x4700u);
  EXPECT_EQ(static_cast<int>(half), 7);
  const std::vector<op::fp16_t> many(3, 1);
  EXPECT_EQ(many[2].val, 0x3c00u);
  EXPECT_TRUE(op::fp16_t().val == 0 && op::fp16_t(70000).IsInf() && op::fp16_t(NAN).IsNan());
}

TEST(Fp16, IntegersSaturateTowardZero) {
  EXPECT_EQ(op::fp16_t(-1.9f).toInt32(), -1);
  EXPECT_EQ(op::fp16_t(300).toInt8(), 127);
  EXPECT_EQ(op::fp16_t(-300).toInt8(), -128);
  EXPECT_EQ(op::fp16_t(-3).toUInt8(), 0);
  EXPECT_EQ(op::fp16_t(300).toUInt8(), 255);
  EXPECT_EQ(op::fp16_t(60000).toInt16(), 32767);
  EXPECT_EQ(op::fp16_t(60000).toUInt16(), 60000);
  EXPECT_EQ(op::fp16_t(INFINITY).toUInt32(), std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(op::fp16_t(NAN).toInt32(), 0);
}

}  // namespace
}  // namespace fia::testing
