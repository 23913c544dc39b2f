// Scores with answers known in advance: extreme biases, sinks, sums and products.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "fia/half.h"
#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

CallSpec SpecOf(DataType dtype, std::int64_t rows, std::int64_t keys) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  spec.query_lengths = {rows};
  spec.kv_lengths = {keys};
  return spec;
}

// q = (1, 0, ...), k = (score_j, 0, ...), scale 1: the score of key j is `score(j)`.
CallSpec WithScores(CallSpec spec, std::function<double(std::int64_t)> score) {
  spec.scale = 1;
  return With(std::move(spec), [score = std::move(score)](const Site& site) -> std::optional<double> {
    if (site.part == Part::kQuery) return site.dim == 0 ? 1 : 0;
    if (site.part == Part::kKey) return site.dim == 0 ? score(site.position) : 0;
    return std::nullopt;
  });
}

CallSpec WithPart(CallSpec spec, Part part, std::function<double(const Site&)> number) {
  return With(std::move(spec), [part, number = std::move(number)](const Site& site) -> std::optional<double> {
    if (site.part == part) return number(site);
    return std::nullopt;
  });
}

TEST(KnownScore, BiasOfOneHeadWithInfinitiesForAllHeads) {
  for (const std::int64_t keys : {512, 70000}) {
    CallSpec spec = SpecOf(DataType::kFloat16, 3, keys);
    spec.num_kv_heads = 1;
    spec.head_dim = spec.value_dim = 16;
    spec.mask.pre_tokens = 65535;  // without a mask it cuts nothing
    spec.mask.next_tokens = 0;
    spec.bias.given = true;
    spec.bias.infinite_share = 0.5;
    spec.bias.form = ViewForm::kBroadcast;
    BuiltCall call(spec);
    ASSERT_EQ(call.params().scores.pse_shift.strides[1], 0);
    EXPECT_TRUE(CallMatches(call));
    EXPECT_FALSE(std::isnan(call.Out(0, 2, 3, 0)));
  }
}

TEST(KnownScore, KeysBehindAnInfiniteBiasMayBeNan) {
  for (const std::int64_t rows : {1, 3, 40}) {
    CallSpec spec = SpecOf(DataType::kFloat16, rows, 70);
    spec.bias.given = true;
    const auto masked = [](std::int64_t j) { return j % 3 == 1; };
    spec = With(spec, [masked](const Site& site) -> std::optional<double> {
      if (site.part == Part::kBias && masked(site.dim)) return -kInfinity;
      const bool stored = site.part == Part::kKey || site.part == Part::kValue;
      if (stored && masked(site.position)) return std::numeric_limits<double>::quiet_NaN();
      return std::nullopt;
    });
    BuiltCall call(spec);
    EXPECT_TRUE(CallMatches(call));
    EXPECT_FALSE(std::isnan(call.Out(0, rows - 1, 0, 0)));
  }
}

TEST(KnownScore, ALowConstantBiasChangesNothing) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16}) {
    const double low = dtype == DataType::kFloat16 ? -65504 : -1e38;
    for (const std::int64_t rows : {1, 30}) {
      CallSpec spec = SpecOf(dtype, rows, 100);
      spec.bias.given = true;
      spec = WithPart(spec, Part::kBias, [low](const Site&) { return low; });
      const CallSpec equal = WithScores(spec, [](std::int64_t) { return 0.5; });
      BuiltCall call(equal);
      ASSERT_TRUE(CallMatches(call));
      const Rows values = RowsOf(call.params().value[0], AxisOrder::kBnsd, 64, dtype, 1);
      for (std::int64_t d = 0; d < 64; ++d) {
        double mean = 0;
        for (std::int64_t j = 0; j < 100; ++j) mean += values.Get(0, j, 1, d) / 100;
        EXPECT_NEAR(call.Out(0, rows - 1, 2, d), mean, 2e-3);
      }
      BuiltCall differing(spec);
      EXPECT_TRUE(CallMatches(differing));
      EXPECT_TRUE(std::isfinite(differing.Out(0, 0, 0, 0)));
      EXPECT_TRUE(std::isfinite(differing.Lse(0, 0, 0)));
    }
  }
}

TEST(KnownScore, BiasIsAddedInFloat32) {
  for (const std::int64_t rows : {1, 30}) {
    CallSpec spec = SpecOf(DataType::kFloat16, rows, 2);
    spec.bias.given = true;
    spec = WithPart(spec, Part::kBias, [](const Site&) { return -65504.0; });
    spec = WithScores(spec, [](std::int64_t j) { return j == 0 ? -20.0 : -30.0; });
    BuiltCall call(WithOneHotValues(spec));
    ASSERT_TRUE(CallMatches(call));
    EXPECT_NEAR(call.Out(0, 0, 0, 0), 1 / (1 + std::exp(-10)), 1e-3);
    EXPECT_NEAR(call.Out(0, 0, 0, 1), std::exp(-10) / (1 + std::exp(-10)), 1e-6);
  }
}

TEST(KnownScore, NoSentinelBeatsVeryLowScores) {
  for (const double level : {-1e5, -1e6}) {
    for (const std::int64_t rows : {1, 3}) {
      CallSpec spec = SpecOf(DataType::kBfloat16, rows, 64);
      spec.num_heads = 16;
      spec.num_kv_heads = 1;
      spec.head_dim = spec.value_dim = 128;
      spec.scale = 1 / std::sqrt(128.0);
      spec = With(spec, [level](const Site& site) -> std::optional<double> {
        if (site.part == Part::kQuery) return 1;
        if (site.part == Part::kKey) return (site.position == 0 ? level + 5000 : level) / 128;
        return std::nullopt;
      });
      BuiltCall call(spec);
      ASSERT_TRUE(CallMatches(call));
      EXPECT_NEAR(call.Lse(0, 0, 15), level == -1e5 ? -8417.40 : -87975.40, level == -1e5 ? 0.04 : 0.4);
      const Rows values = RowsOf(call.params().value[0], AxisOrder::kBnsd, 128, DataType::kBfloat16, 1);
      for (std::int64_t d = 0; d < 128; ++d) EXPECT_EQ(call.Out(0, 0, 7, d), values.Get(0, 0, 0, d));
    }
  }
}

TEST(KnownScore, ASinkFarAboveTheScores) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 20}) {
      CallSpec spec = SpecOf(dtype, rows, 128);
      spec.sink = true;
      spec = WithPart(spec, Part::kSink, [](const Site&) { return 100.0; });
      spec = WithScores(spec, [](std::int64_t j) { return 0.01 * static_cast<double>(j % 7); });
      spec =
          WithPart(spec, Part::kValue, [](const Site& site) { return site.position % 2 == 0 ? 1.0 : 0.5; });
      BuiltCall call(spec);
      ASSERT_TRUE(CallMatches(call));
      EXPECT_EQ(call.Lse(0, 0, 0), 100);
      EXPECT_GE(call.Out(0, 0, 0, 0), 0);
      EXPECT_LE(call.Out(0, 0, 0, 0), 1e-41);
    }
  }
}

TEST(KnownScore, ASinkDoesNotFillAnEmptyRow) {
  for (const std::int64_t rows : {1, 20}) {
    CallSpec spec = SpecOf(DataType::kFloat16, rows, 0);
    spec.kv_slack = 5;
    spec.sink = true;
    spec = WithPart(spec, Part::kSink, [](const Site&) { return 0.5; });
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    EXPECT_EQ(call.Out(0, 0, 0, 0), 0);
    EXPECT_EQ(call.Lse(0, 0, 0), kInfinity);
  }
}

TEST(KnownScore, ASinkIsAThirdOfThree) {
  for (const bool sink : {true, false}) {
    for (const std::int64_t rows : {1, 20}) {
      CallSpec spec = SpecOf(DataType::kFloat32, rows, 2);
      spec.sink = sink;
      spec = With(spec, [](const Site& site) -> std::optional<double> {
        if (site.part == Part::kSink || site.part == Part::kQuery) return 0;
        if (site.part == Part::kValue) return 1;
        return std::nullopt;
      });
      BuiltCall call(spec);
      ASSERT_TRUE(CallMatches(call));
      EXPECT_NEAR(call.Out(0, 0, 1, 9), sink ? 2.0 / 3 : 1, 1e-6);
      EXPECT_NEAR(call.Lse(0, 0, 1), std::log(sink ? 3.0 : 2.0), 1e-6);
    }
  }
}

TEST(KnownScore, ManyEqualScoresAreAllCounted) {
  for (const std::int64_t rows : {1, 20}) {
    CallSpec spec = SpecOf(DataType::kBfloat16, rows, 512);
    spec = WithScores(spec, [](std::int64_t) { return 1.5; });
    spec = WithPart(spec, Part::kValue, [](const Site& site) { return site.position < 256 ? 1.0 : 3.0; });
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    EXPECT_EQ(call.Out(0, 0, 0, 0), 2);
    EXPECT_NEAR(call.Lse(0, 0, 0), 1.5 + std::log(512.0), 1e-5);
  }
}

TEST(KnownScore, ProductsBeyondHalfPrecisionStayFinite) {
  for (const std::int64_t rows : {1, 20}) {
    CallSpec spec = SpecOf(DataType::kFloat16, rows, 9);
    spec.head_dim = spec.value_dim = 128;
    spec.scale = 1 / std::sqrt(128.0);
    spec = With(spec, [](const Site& site) -> std::optional<double> {
      if (site.part == Part::kQuery || site.part == Part::kKey) return 30;
      return std::nullopt;
    });
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    EXPECT_NEAR(call.Lse(0, 0, 0), 115200 / std::sqrt(128.0) + std::log(9.0), 0.05);
  }
}

TEST(KnownScore, LargeScoresThatDifferByOne) {
  for (const std::int64_t rows : {1, 20}) {
    CallSpec spec = SpecOf(DataType::kFloat16, rows, 60);
    spec.head_dim = spec.value_dim = 128;
    spec.scale = 1;
    spec = With(spec, [](const Site& site) -> std::optional<double> {
      if (site.part == Part::kQuery) return site.dim == 127 ? 1 : site.dim < 4 ? 50 : 0;
      if (site.part == Part::kKey) return site.dim == 127 ? site.position : site.dim < 4 ? 50 : 7;
      return std::nullopt;
    });
    BuiltCall call(spec);
    EXPECT_TRUE(CallMatches(call));
    EXPECT_NEAR(call.Lse(0, 0, 0), 10059 + std::log(1 / (1 - std::exp(-1.0))), 0.05);
  }
}

TEST(KnownScore, CancellingProducts) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 20}) {
      CallSpec spec = SpecOf(dtype, rows, 60);
      spec.head_dim = spec.value_dim = 128;
      spec.scale = 1;
      spec = With(spec, [base = spec](const Site& site) -> std::optional<double> {
        if (site.part == Part::kQuery) return 60;
        if (site.part != Part::kKey) return std::nullopt;
        Site pair = site;
        pair.dim /= 2;
        const double size = 30 * ContentAt(base, pair);
        return site.dim % 2 == 0 ? size : -size;
      });
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(KnownScore, WeightsThatReachSubnormals) {
  for (const std::int64_t rows : {1, 20}) {
    for (const double depth : {-80.0, -85.0, -88.0, -90.0, -95.0, -104.0, -120.0}) {
      CallSpec spec = SpecOf(DataType::kBfloat16, rows, 40);
      spec = WithScores(spec, [depth](std::int64_t j) { return j == 0 ? 0 : depth; });
      spec = WithPart(spec, Part::kValue, [](const Site& site) { return site.position == 0 ? 0.0 : 1.0; });
      BuiltCall call(spec);
      EXPECT_TRUE(CallMatches(call)) << depth;
      EXPECT_FALSE(std::isnan(call.Out(0, 0, 0, 0)));
    }
  }
}

TEST(KnownScore, NanOnOneSideFails) {
  BuiltCall call(SpecOf(DataType::kFloat16, 2, 10));
  ASSERT_TRUE(CallMatches(call));
  ReferenceResult reference;
  ASSERT_TRUE(ComputeReference(call.params(), nullptr, &reference).ok());
  EXPECT_TRUE(CompareWithReference(call.params(), reference).passed);
  static_cast<std::uint16_t*>(call.params().attention_out.data)[5] =
      FloatToHalf(std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(CompareWithReference(call.params(), reference).passed);
}

}  // namespace
}  // namespace fia::testing
