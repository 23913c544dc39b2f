// Conversions of fia/half.h against formulas of their own.
#include "fia/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace fia {
namespace {

std::uint32_t BitsOf(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float FloatOf(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// sign * fraction * 2^exponent by ldexp; fields as IEEE 754 lays them out.
double Decode(std::uint32_t bits, int fraction_bits, int exponent_bits) {
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const int exponent = static_cast<int>((bits >> fraction_bits) & ((1u << exponent_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (fraction_bits + exponent_bits)) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1u << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

TEST(HalfTest, EveryHalfBecomesItsFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double expected = Decode(bits, 10, 5);
    const float got = HalfToFloat(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(got, expected) << bits;
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << bits;
    }
  }
}

TEST(HalfTest, EveryBfloat16BecomesItsFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double expected = Decode(bits, 7, 8);
    const float got = Bfloat16ToFloat(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(got, expected) << bits;
    }
  }
}

// The 16-bit pattern nearest to `value`, ties to the even pattern: a search among all non-negative patterns,
// which are ordered as their numbers are.
std::uint16_t Nearest(float value, int fraction_bits, int exponent_bits) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(static_cast<double>(value));
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  std::uint32_t low = 0;
  std::uint32_t high = infinity;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (Decode(middle, fraction_bits, exponent_bits) <= magnitude ? low : high) = middle;
  }
  // The pattern of infinity stands for the power of two that would follow the largest number.
  const double below = Decode(low, fraction_bits, exponent_bits);
  const double above = high == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                                        : Decode(high, fraction_bits, exponent_bits);
  const double to_below = magnitude - below;
  const double to_above = above - magnitude;
  const bool up = to_above < to_below || (to_above == to_below && (low & 1u) != 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

// Floats around every 16-bit number and every midpoint, both signs, and a sweep of the others.
template <typename Convert>
void ExpectNearest(Convert convert, int fraction_bits, int exponent_bits) {
  const auto check = [&](std::uint32_t bits) {
    const float value = FloatOf(bits);
    if (!std::isfinite(value)) return;
    ASSERT_EQ(convert(value), Nearest(value, fraction_bits, exponent_bits)) << std::hexfloat << value;
  };
  const std::uint32_t patterns = ((1u << exponent_bits) - 1) << fraction_bits;
  for (std::uint32_t pattern = 0; pattern < patterns; ++pattern) {
    const double here = Decode(pattern, fraction_bits, exponent_bits);
    const double next = pattern + 1 == patterns ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                                                : Decode(pattern + 1, fraction_bits, exponent_bits);
    for (const double point : {here, here / 2 + next / 2}) {
      const std::uint32_t bits = BitsOf(static_cast<float>(point));
      for (const std::uint32_t sign : {0u, 0x80000000u}) {
        check(bits | sign);
        check((bits + 1) | sign);
        if (bits > 0) check((bits - 1) | sign);
      }
    }
  }
  for (std::uint32_t bits = 0; bits < 0xfffff000u; bits += 64007u) check(bits);
}

TEST(HalfTest, FloatsBecomeTheNearestHalf) { ExpectNearest(FloatToHalf, 10, 5); }

TEST(HalfTest, FloatsBecomeTheNearestBfloat16) { ExpectNearest(FloatToBfloat16, 7, 8); }

TEST(HalfTest, InfinitiesAndNaNStay) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FloatToHalf(infinity), 0x7c00);
  EXPECT_EQ(FloatToHalf(-infinity), 0xfc00);
  EXPECT_EQ(FloatToBfloat16(infinity), 0x7f80);
  EXPECT_EQ(FloatToBfloat16(-infinity), 0xff80);
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc00000u}) {
    EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(FloatOf(bits)))));
    EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(FloatOf(bits)))));
  }
}

}  // namespace
}  // namespace fia
