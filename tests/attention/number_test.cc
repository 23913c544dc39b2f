// Special numbers in every tensor: NaN, infinities, subnormals, signed zeros, the largest and the smallest.
// The reference says what is promised; what only a NaN or an infinity reaches is promised nothing, and it
// reaches the rows that attend it alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

double Largest(DataType dtype) {
  if (dtype == DataType::kFloat16) return 65504;
  return dtype == DataType::kBfloat16 ? 0x1.fep127 : std::numeric_limits<float>::max();
}

double SmallestSubnormal(DataType dtype) {
  if (dtype == DataType::kFloat16) return 0x1p-24;
  return dtype == DataType::kBfloat16 ? 0x1p-133 : 0x1p-149;
}

double SmallestNormal(DataType dtype) { return dtype == DataType::kFloat16 ? 0x1p-14 : 0x1p-126; }

// A site's own random number.
std::uint64_t HashOf(const Site& site) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::int64_t part :
       {static_cast<std::int64_t>(site.part), site.sequence, site.head, site.position, site.dim}) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 31;
  }
  return hash;
}

// `number` in about one of `share` elements of `part`.
CallSpec WithSome(CallSpec spec, Part part, std::uint64_t share, double number) {
  return With(std::move(spec), [part, share, number](const Site& site) -> std::optional<double> {
    if (site.part == part && HashOf(site) % share == 0) return number;
    return std::nullopt;
  });
}

CallSpec SpecOf(DataType dtype, std::int64_t rows, bool latent) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  spec.query_lengths = {rows, rows};
  spec.kv_lengths = {45, 300};
  spec.mask.mode = rows > 1 ? 3 : 0;
  spec.bias.given = !latent;
  spec.sink = !latent;
  if (latent) spec.rope_dim = 64, spec.head_dim = spec.value_dim = 128;
  return spec;
}

std::vector<double> NumbersOf(DataType dtype) {
  return {kNan,
          kInfinity,
          -kInfinity,
          -0.0,
          Largest(dtype),
          -Largest(dtype),
          SmallestNormal(dtype),
          SmallestSubnormal(dtype),
          -7 * SmallestSubnormal(dtype)};
}

TEST(NumberTest, AnywhereInAnyTensor) {
  constexpr Part kParts[] = {Part::kQuery, Part::kKey, Part::kValue, Part::kBias, Part::kSink};
  for (const DataType dtype : kTypes) {
    for (const double number : NumbersOf(dtype)) {
      for (const Part part : kParts) {
        for (const std::int64_t rows : {1, 20}) {
          if (part == Part::kSink && !std::isfinite(number)) continue;
          const CallSpec spec = WithSome(SpecOf(dtype, rows, false), part, 701, number);
          EXPECT_TRUE(CallMatches(spec)) << "number " << number << " in part " << static_cast<int>(part);
        }
      }
      for (const Part part : {Part::kQueryRope, Part::kKeyRope}) {
        if (dtype == DataType::kFloat32) continue;
        const CallSpec spec = WithSome(SpecOf(dtype, 20, true), part, 701, number);
        EXPECT_TRUE(CallMatches(spec)) << "number " << number << " in part " << static_cast<int>(part);
      }
    }
  }
}

// A tensor of nothing but small numbers keeps what the bounds promise of them. Float32 sums have no more room
// below than their terms, so float32 values stand further up.
TEST(NumberTest, TensorsOfSmallNumbers) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 20}) {
      for (const Part part : {Part::kQuery, Part::kKey, Part::kValue}) {
        const bool summed = dtype == DataType::kFloat32 && part == Part::kValue;
        const double smallest = summed ? 0x1p-120 : SmallestSubnormal(dtype);
        for (const double number : {smallest, 3 * smallest, std::max(smallest, SmallestNormal(dtype))})
          EXPECT_TRUE(CallMatches(WithSome(SpecOf(dtype, rows, false), part, 1, number)));
      }
    }
  }
}

TEST(NumberTest, ScalesOfQuantisedCaches) {
  constexpr double kNumbers[] = {kNan, kInfinity, 0.0, -0.0, 65504, -65504, 0x1p-24, 0x1p-14};
  for (const Part part : {Part::kKeyScale, Part::kKeyOffset, Part::kValueScale, Part::kValueOffset}) {
    for (const double number : kNumbers) {
      for (const bool per_token : {false, true}) {
        CallSpec spec;
        spec.kv_dtype = DataType::kInt8;
        spec.kv_lengths = {300};
        spec.quant.flow = QuantFlow::kAntiquant;
        spec.quant.key_mode = spec.quant.value_mode = per_token ? 1 : 0;
        spec.quant.per_channel = !per_token;
        spec.quant.offsets = true;
        spec = WithSome(spec, part, 23, number);
        EXPECT_TRUE(CallMatches(spec)) << "number " << number << " in part " << static_cast<int>(part);
      }
    }
  }
}

// The last key holds them: causal rows before the last are what they are without.
TEST(NumberTest, ReachTheRowsThatAttendThemAlone) {
  for (const DataType dtype : kTypes) {
    for (const double number : {kNan, kInfinity, -kInfinity}) {
      for (const std::int64_t rows : {3, 45}) {
        for (const Part part : {Part::kKey, Part::kValue}) {
          CallSpec spec;
          spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
          spec.query_lengths = {rows};
          spec.kv_lengths = {45};
          spec.mask.mode = 3;
          BuiltCall plain(spec);
          BuiltCall special(With(spec, [=](const Site& site) -> std::optional<double> {
            if (site.part == part && site.position == 44) return number;
            return std::nullopt;
          }));
          ASSERT_TRUE(plain.Run().ok());
          ASSERT_TRUE(special.Run().ok());
          for (std::int64_t row = 0; row + 1 < rows; ++row) {
            for (std::int64_t head = 0; head < spec.num_heads; ++head) {
              EXPECT_EQ(special.Lse(0, row, head), plain.Lse(0, row, head));
              for (std::int64_t dim = 0; dim < spec.value_dim; ++dim)
                ASSERT_EQ(special.Out(0, row, head, dim), plain.Out(0, row, head, dim)) << "row " << row;
            }
          }
          const double reached = special.Out(0, rows - 1, 0, 0);
          EXPECT_FALSE(std::isfinite(reached) && part == Part::kValue);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fia::testing
