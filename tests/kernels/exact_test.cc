// Cases whose result has one right value.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/isa.h"
#include "fia/half.h"
#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

constexpr Body kBodies[] = {Body::kFewRows, Body::kManyRows};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One float32 element a row: the score of key j is query 1 times `scores[j]`, its value is 1.
TileData Scored(Body body, const std::vector<double>& scores) {
  TileCase spec;
  spec.body = body;
  spec.kv = KvType::kFloat32;
  spec.query = DataType::kFloat32;
  spec.rows = 1;
  spec.tiles = {static_cast<std::int64_t>(scores.size())};
  spec.head_dim = spec.value_dim = 1;
  spec.scale = 1;
  TileData data(spec);
  data.query.Set(0, 0, 1);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    data.key.Set(static_cast<std::int64_t>(j), 0, scores[j]);
    data.value.Set(static_cast<std::int64_t>(j), 0, 1);
  }
  return data;
}

// The largest score has weight 1 exactly, whatever its size: the sum of n equal ones is n.
TEST(ExactTest, EqualScoresCount) {
  for (Body body : kBodies) {
    for (double score : {0.0, 1.0, -7.3, 1e-30, 3e37, -3e37}) {
      for (std::size_t keys : {1u, 5u, 512u}) {
        const OwnedState state = RunTiles(*ActiveKernels(), Scored(body, std::vector<double>(keys, score)));
        EXPECT_EQ(state.row_max[0], static_cast<float>(score));
        EXPECT_EQ(state.row_sum[0], static_cast<double>(keys));
        EXPECT_EQ(state.acc[0], static_cast<float>(keys));
      }
    }
  }
}

// exp over its whole range: two keys, one of weight 1 and one of weight exp(x).
TEST(ExactTest, ExpRange) {
  for (Body body : kBodies) {
    for (double x = 0; x > -120; x -= 0.0917) {
      const float stored = static_cast<float>(x);
      const OwnedState state = RunTiles(*ActiveKernels(), Scored(body, {0, stored}));
      const double exact = std::exp(static_cast<double>(stored));
      const double got = state.row_sum[0] - 1;
      // Rounding of x * log2 e, the polynomial, and of the sum of both weights; below the normal range: 0.
      EXPECT_NEAR(got, exact, exact * 0x1p-22 * (1 + std::abs(x) / 4) + 0x1p-24 * (1 + exact) + 0x1p-125)
          << x;
      EXPECT_GE(got, 0) << x;
    }
  }
}

// Each side's weight alone is 1 when the other is far below.
TEST(ExactTest, FarBelowIsNothing) {
  for (Body body : kBodies) {
    for (double low : {-90.0, -1e5, -3e38}) {
      const OwnedState state = RunTiles(*ActiveKernels(), Scored(body, {low, 5, low}));
      EXPECT_EQ(state.row_max[0], 5);
      EXPECT_EQ(state.row_sum[0], 1);
      EXPECT_EQ(state.acc[0], 1);
    }
  }
}

// A finite bias never masks, even where the sum overflows; one of -inf does.
TEST(ExactTest, LowestBias) {
  for (Body body : kBodies) {
    TileData data = Scored(body, {-3e38, -3e38, -3e38});
    TileCase spec = data.spec;
    spec.bias = DataType::kBfloat16;
    TileData biased(spec);
    biased.query.Set(0, 0, 1);
    for (std::int64_t j = 0; j < 3; ++j) {
      biased.key.Set(j, 0, -3e38);
      biased.value.Set(j, 0, 1);
      biased.bias.Set(0, j, j == 1 ? -kInfinity : -3e38);
    }
    const OwnedState state = RunTiles(*ActiveKernels(), biased);
    EXPECT_TRUE(std::isfinite(state.row_max[0]));
    EXPECT_EQ(state.row_sum[0], 2);
    EXPECT_EQ(state.acc[0], 2);
  }
}

// Integer dot products are exact: every term as large as it can be, and the score a known number.
TEST(ExactTest, IntegerDots) {
  for (Body body : kBodies) {
    for (std::int64_t dim : {1, 127, 128, 129, 512, 1000, 1024}) {
      TileCase spec;
      spec.body = body;
      spec.kv = KvType::kInt8;
      spec.query = DataType::kInt8;
      spec.rows = 2;
      spec.tiles = {3};
      spec.head_dim = dim;
      spec.value_dim = 5;
      spec.scale = 1;
      TileData data(spec);
      std::int64_t sums[2] = {};
      for (std::int64_t row = 0; row < 2; ++row) {
        for (std::int64_t d = 0; d < dim; ++d) {
          data.query.Set(row, d, -128);
          for (std::int64_t j = 0; j < 3; ++j) data.key.Set(j, d, d % 97 == 0 ? 113 : -128 + (d + row) % 2);
        }
      }
      for (std::int64_t row = 0; row < 2; ++row) {
        for (std::int64_t d = 0; d < dim; ++d) {
          sums[row] += static_cast<std::int64_t>(data.query.Get(row, d) * data.key.Get(0, d));
        }
      }
      const OwnedState state = RunTiles(*ActiveKernels(), data);
      for (std::size_t row = 0; row < 2; ++row) {
        EXPECT_EQ(state.row_max[row], static_cast<float>(sums[row])) << "D " << dim;
        EXPECT_EQ(state.row_sum[row], 3);
      }
    }
  }
}

// p8 . v8 over a whole block of 512 keys: 127 * 127 * 512 is exact, and so is the division by 127.
TEST(ExactTest, IntegerWeights) {
  for (Body body : kBodies) {
    TileCase spec;
    spec.body = body;
    spec.kv = KvType::kInt8;
    spec.query = DataType::kInt8;
    spec.rows = 3;
    spec.tiles = {512};
    spec.head_dim = 4;
    spec.value_dim = 6;
    spec.scale = 0;
    TileData data(spec);
    for (std::int64_t j = 0; j < 512; ++j) {
      for (std::int64_t d = 0; d < 6; ++d) data.value.Set(j, d, 127);
    }
    for (Weights weights : {Weights::kBlockInt8, Weights::kFixedMaxInt8}) {
      data.spec.weights = weights;
      data.spec.weight_scale = 500;  // saturates at 127
      const OwnedState state = RunTiles(*ActiveKernels(), data);
      for (std::size_t d = 0; d < 6; ++d) {
        EXPECT_NEAR(state.acc[d], weights == Weights::kBlockInt8 ? 127 * 512 : 127 * 127 * 512, 0.01);
      }
    }
  }
}

// Weights that multiply pairs of values are p rounded to bfloat16, nearest even; their sum takes the plain p.
TEST(ExactTest, Bfloat16Weights) {
  if (!HasBody(*ActiveKernels(), Body::kBfloat16, KvType::kBfloat16)) GTEST_SKIP() << "no such body";
  TileCase spec;
  spec.body = Body::kBfloat16;
  spec.kv = KvType::kBfloat16;
  spec.query = DataType::kBfloat16;
  spec.rows = 1;
  spec.tiles = {3};
  spec.head_dim = 1;
  spec.value_dim = 2;
  for (float scale = 0.01f; scale < 80; scale *= 1.07f) {
    spec.scale = scale;
    TileData data(spec);
    data.query.Set(0, 0, 1);
    for (std::int64_t j = 0; j < 3; ++j) {
      data.key.Set(j, 0, j == 1 ? -1 : 0);
      data.value.Set(j, 0, j == 1 ? 0 : 1);
      data.value.Set(j, 1, j == 1 ? 1 : 0);
    }
    const OwnedState state = RunTiles(*ActiveKernels(), data);
    const double p = std::exp(-static_cast<double>(scale));
    EXPECT_EQ(state.acc[0], 2) << scale;
    // Half the distance to the next bfloat16, and what float32 may add to p.
    EXPECT_NEAR(state.acc[1], p, std::ldexp(1.0, std::ilogb(p) - 8) + p * 0x1p-18) << scale;
    EXPECT_EQ(state.acc[1], Bfloat16ToFloat(FloatToBfloat16(state.acc[1]))) << scale;
    EXPECT_NEAR(state.row_sum[0], 2 + p, 0x1p-22) << scale;
  }
}

}  // namespace
}  // namespace fia::testing
