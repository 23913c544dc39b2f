// Ranges of correct results, held against numbers worked out by hand.
#include "reference/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scene.h"

namespace fia::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(BoundsTest, UlpIsTheSpacingOfTheType) {
  EXPECT_EQ(UlpOf(DataType::kFloat16, 1.0), 0x1p-10);
  EXPECT_EQ(UlpOf(DataType::kFloat16, -1.999), 0x1p-10);
  EXPECT_EQ(UlpOf(DataType::kFloat16, 2.0), 0x1p-9);
  EXPECT_EQ(UlpOf(DataType::kFloat16, 65504), 32.0);
  EXPECT_EQ(UlpOf(DataType::kFloat16, 0x1p-14), 0x1p-24);
  EXPECT_EQ(UlpOf(DataType::kFloat16, 1e-30), 0x1p-24);
  EXPECT_EQ(UlpOf(DataType::kFloat16, 0), 0x1p-24);
  EXPECT_EQ(UlpOf(DataType::kBfloat16, 1.0), 0x1p-7);
  EXPECT_EQ(UlpOf(DataType::kBfloat16, 0), 0x1p-133);
  EXPECT_EQ(UlpOf(DataType::kFloat32, 1.0), 0x1p-23);
  EXPECT_EQ(UlpOf(DataType::kFloat32, 0), 0x1p-149);
  EXPECT_EQ(UlpOf(DataType::kFloat32, 0x1p-130), 0x1p-149);
}

TEST(BoundsTest, ErrorByTypeAndPrecision) {
  AttentionParams params;
  const auto error = [&](DataType query, DataType out, std::int64_t precise, std::int64_t keys = 1) {
    params.query.dtype = query;
    params.attention_out.dtype = out;
    params.scores.inner_precise = precise;
    return RelativeError(params, keys);
  };
  for (const std::int64_t precise : {0, 2}) {
    EXPECT_EQ(error(DataType::kFloat16, DataType::kFloat16, precise), 0x1p-16);
    EXPECT_EQ(error(DataType::kBfloat16, DataType::kBfloat16, precise), 0x1p-16);
    EXPECT_EQ(error(DataType::kFloat32, DataType::kFloat32, precise), 0x1p-17);
    EXPECT_EQ(error(DataType::kBfloat16, DataType::kInt8, precise), 0x1p-16);
  }
  for (const std::int64_t precise : {1, 3}) {
    EXPECT_EQ(error(DataType::kFloat16, DataType::kFloat16, precise), 0x1p-11);
    EXPECT_EQ(error(DataType::kBfloat16, DataType::kBfloat16, precise), 0x1p-8);
    EXPECT_EQ(error(DataType::kFloat32, DataType::kFloat32, precise), 0x1p-17);
    EXPECT_EQ(error(DataType::kFloat16, DataType::kInt8, precise), 0x1p-11);
    EXPECT_EQ(error(DataType::kBfloat16, DataType::kInt8, precise), 0x1p-8);
  }
  EXPECT_EQ(error(DataType::kFloat16, DataType::kFloat16, 0, std::int64_t{1} << 20), 0x1p-16);
  EXPECT_EQ(error(DataType::kFloat16, DataType::kFloat16, 0, std::int64_t{1} << 22), 0x1p-14);
}

TEST(BoundsTest, FloatRanges) {
  const ElementRange range = RangeOfFloat(DataType::kFloat16, {3.0, 3.0, 3.0, 0.25});
  EXPECT_EQ(range.exact, 3.0);
  EXPECT_EQ(range.low, 3 - 0.25 - 0x1p-9);
  EXPECT_EQ(range.high, 3 + 0.25 + 0x1p-9);
  const ElementRange wide = RangeOfFloat(DataType::kBfloat16, {1.0, 0.5, 2.0, 0});
  EXPECT_EQ(wide.low, 0.5 - 0x1p-8);
  EXPECT_EQ(wide.high, 2.0 + 0x1p-6);
}

// Infinity stands at the power of two after the largest number.
TEST(BoundsTest, OverflowOnlyWhereTheBoundReachesIt) {
  EXPECT_EQ(RangeOfFloat(DataType::kFloat16, {65503, 65503, 65503, 0}).high, 65535.0);
  EXPECT_EQ(RangeOfFloat(DataType::kFloat16, {65503, 65503, 65503, 1}).high, kInfinity);
  EXPECT_EQ(RangeOfFloat(DataType::kFloat16, {-65503, -65503, -65503, 1}).low, -kInfinity);
  EXPECT_EQ(RangeOfFloat(DataType::kFloat16, {-65503, -65503, -65503, 0}).low, -65535.0);
  const ElementRange beyond = RangeOfFloat(DataType::kFloat16, {1e6, 1e6, 1e6, 0});
  EXPECT_EQ(beyond.high, kInfinity);
  EXPECT_GT(beyond.low, 65504);  // no finite number is right
  EXPECT_EQ(RangeOfFloat(DataType::kBfloat16, {1e6, 1e6, 1e6, 0}).high, 1e6 + 4096);
}

TEST(BoundsTest, Int8RangesHaveOneNeighbourNearAHalf) {
  const auto range = [](double x, double error, double scale = 1, double offset = 0) {
    const ElementRange found = RangeOfInt8({x, x, x, error}, scale, offset);
    return std::pair(found.low, found.high);
  };
  EXPECT_EQ(range(2.5, 0), std::pair(2.0, 2.0));  // nearest even
  EXPECT_EQ(range(3.5, 0), std::pair(4.0, 4.0));
  EXPECT_EQ(range(2.4, 0.05), std::pair(2.0, 2.0));
  EXPECT_EQ(range(2.4375, 0.0625), std::pair(2.0, 3.0));  // within 1/16 of the half
  EXPECT_EQ(range(2.5625, 0.0625), std::pair(2.0, 3.0));
  EXPECT_EQ(range(1.1, 0.05, 2), std::pair(2.0, 2.0));
  EXPECT_EQ(range(1.21875, 0.03125, 2), std::pair(2.0, 3.0));
  EXPECT_EQ(range(1.21875, 0.03125, -2), std::pair(-3.0, -2.0));
  EXPECT_EQ(range(1.0, 0.01, 1, 0.5), std::pair(1.0, 2.0));
  EXPECT_EQ(range(500, 0.1), std::pair(127.0, 127.0));
  EXPECT_EQ(range(-500, 0.1), std::pair(-128.0, -128.0));
  EXPECT_EQ(range(127.5, 0.1), std::pair(127.0, 127.0));
  const ElementRange turned = RangeOfInt8({1, 0.75, 2, 0}, -4, 0);
  EXPECT_EQ(turned.low, -8);
  EXPECT_EQ(turned.high, -3);
  EXPECT_EQ(SaturateInt8(0.5), 0.0);
  EXPECT_EQ(SaturateInt8(1.5), 2.0);
  EXPECT_EQ(SaturateInt8(-128.5), -128.0);
}

// Two keys, q = 2, k = {1, -1}, v = {4, -2}, scale 1/2, bias {0, 0.25}: A = 1.25 from the second key.
TEST(BoundsTest, ARowsBoundIsMadeOfItsParts) {
  testing::Tensor query(DataType::kFloat16, {1, 1, 1, 1});
  testing::Tensor key(DataType::kFloat16, {1, 2, 1, 1});
  testing::Tensor value(DataType::kFloat16, {1, 2, 1, 1});
  testing::Tensor bias(DataType::kFloat16, {1, 1, 1, 2});
  query.Fill(2);
  key.FillFrom({1, -1});
  value.FillFrom({4, -2});
  bias.FillFrom({0, 0.25});
  AttentionParams params;
  params.query = params.attention_out = query.view();
  params.key = {key.view()};
  params.value = {value.view()};
  params.heads = {"BNSD", 1, 1};
  params.key[0].dims[1] = params.value[0].dims[1] = 1;
  params.key[0].dims[2] = params.value[0].dims[2] = 2;
  params.key[0].strides[2] = params.value[0].strides[2] = 1;
  params.scores.scale = 0.5;
  params.scores.pse_shift = bias.view();
  const double p0 = std::exp(1.0) / (std::exp(1.0) + std::exp(-0.75));
  const double exact = 4 * p0 - 2 * (1 - p0);
  const double weight = 4 * p0 + 2 * (1 - p0);
  const double tail = 2 * 0x1p-125 * 4;
  const ReferenceRow row = testing::RowOf(params, 0, 0, 0);
  EXPECT_NEAR(row.out[0], exact, 1e-14);
  const double bound = 0x1p-9 + (0x1p-16 + 0x1p-18 * 1.25) * weight + tail;  // exact lies in 2..4
  EXPECT_NEAR(row.out_high[0], exact + bound, 1e-14);
  EXPECT_NEAR(row.out_low[0], exact - bound, 1e-14);
  EXPECT_NEAR(row.lse_tolerance, 4e-6 * 1.25, 1e-20);
  params.scores.inner_precise = 1;
  const double wider = 0x1p-9 + (0x1p-11 + 0x1p-18 * 1.25) * weight + tail;
  EXPECT_NEAR(testing::RowOf(params, 0, 0, 0).out_high[0], exact + wider, 1e-14);
}

// The second weight underflows float32: the tail alone allows for its loss.
TEST(BoundsTest, TheTailCoversUnderflow) {
  testing::Tensor query(DataType::kFloat32, {1, 1, 1, 1});
  testing::Tensor key(DataType::kFloat32, {1, 1, 2, 1});
  testing::Tensor value(DataType::kFloat32, {1, 1, 2, 1});
  query.Fill(1);
  key.FillFrom({0, -90});
  value.FillFrom({0, 1});
  AttentionParams params;
  params.query = params.attention_out = query.view();
  params.key = {key.view()};
  params.value = {value.view()};
  params.heads = {"BNSD", 1, 1};
  const ReferenceRow row = testing::RowOf(params, 0, 0, 0);
  EXPECT_NEAR(row.out[0] / std::exp(-90.0), 1, 1e-12);
  EXPECT_LT(row.out_low[0], 0);
  EXPECT_NEAR(row.out_high[0] / (std::exp(-90.0) + 0x1p-124), 1, 1e-3);
}

}  // namespace
}  // namespace fia::reference
