// Scores: bias, sink, rope, scale, values that are not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// One row of one head with D = Dv = 1: the score of key j is scores[j] (in float32), its value values[j].
struct Line {
  Line(const std::vector<double>& scores, const std::vector<double>& values)
      : query(DataType::kFloat32, {1, 1, 1, 1}),
        key(DataType::kFloat32, {1, static_cast<std::int64_t>(scores.size()), 1, 1}),
        value(DataType::kFloat32, {1, static_cast<std::int64_t>(scores.size()), 1, 1}),
        out(DataType::kFloat32, {1, 1, 1, 1}) {
    query.Fill(1);
    key.FillFrom(scores);
    value.FillFrom(values);
    params.query = query.view();
    params.key = {key.view()};
    params.value = {value.view()};
    params.attention_out = out.view();
    params.heads = {"BSND", 1, 1};
  }

  ReferenceRow Row() const { return RowOf(params, 0, 0, 0); }

  Tensor query, key, value, out, extra;
  AttentionParams params;
};

TEST(ScoreTest, SinkIsAScoreWithoutAValue) {
  Line line({0, 0}, {1, 1});
  EXPECT_DOUBLE_EQ(line.Row().out[0], 1.0);
  EXPECT_DOUBLE_EQ(line.Row().lse, std::log(2.0));
  Tensor sink(DataType::kFloat32, {1});
  line.params.scores.learnable_sink = sink.view();
  EXPECT_DOUBLE_EQ(line.Row().out[0], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(line.Row().lse, std::log(3.0));
  sink.Set(0, -kInfinity);
  EXPECT_DOUBLE_EQ(line.Row().out[0], 1.0);
  EXPECT_DOUBLE_EQ(line.Row().lse, std::log(2.0));
  EXPECT_DOUBLE_EQ(line.Row().lse_tolerance, 4e-6);
  for (const double bad : {kNaN, kInfinity, 0x1p127, -0x1p127}) {
    sink.Set(0, bad);
    ExpectUnspecified(line.Row());
  }
}

TEST(ScoreTest, EachHeadHasItsSink) {
  const Scene scene;
  PlainCall call = MakePlainCall(scene, "BSND");
  Tensor sink(DataType::kFloat16, {2}, {{}, {3}, {}, 0});
  sink.FillFrom({1, -2});
  call.params.scores.learnable_sink = sink.view();
  for (std::int64_t n = 0; n < 2; ++n) {
    const double plain = Solve(scene, 0, n, 0, FirstKeys(5)).lse;
    EXPECT_NEAR(RowOf(call.params, 0, n, 0).lse, std::log(std::exp(plain) + std::exp(sink.Get(n))), 1e-12);
  }
}

TEST(ScoreTest, ALargeSinkLeavesAlmostNothing) {
  Line line(std::vector<double>(128, 0.0), std::vector<double>(128, 1.0));
  Tensor sink(DataType::kFloat32, {1});
  sink.Set(0, 100);
  line.params.scores.learnable_sink = sink.view();
  const ReferenceRow row = line.Row();
  EXPECT_NEAR(row.lse, 100, 1e-12);
  EXPECT_DOUBLE_EQ(row.lse_tolerance, 4e-4);  // A counts the sink
  EXPECT_NEAR(row.out[0] / (128 * std::exp(-100.0)), 1.0, 1e-12);
  line.params.lengths = SequenceLengths{{}, {0}};
  ExpectEmpty(line.Row());
}

TEST(ScoreTest, BiasIsAddedInFullPrecision) {
  Line line({-20, -30}, {1, 0});
  Tensor bias(DataType::kFloat16, {1, 1, 1, 2});
  bias.Fill(-65504);
  line.params.scores.pse_shift = bias.view();
  const ReferenceRow row = line.Row();
  EXPECT_DOUBLE_EQ(row.out[0], 1 / (1 + std::exp(-10.0)));
  EXPECT_DOUBLE_EQ(row.lse, -65524 + std::log1p(std::exp(-10.0)));
  EXPECT_DOUBLE_EQ(row.lse_tolerance, 4e-6 * 65534);
}

TEST(ScoreTest, InfiniteBiasMasks) {
  Line line({1, 2, 3}, {10, 20, kNaN});
  Tensor bias(DataType::kFloat32, {1, 1, 2, 5});
  bias.FillFrom({0.5, 0, -kInfinity, 9, 9, 9, 9, 9, 9, 9});
  line.params.scores.pse_shift = bias.view();
  const double w = std::exp(1.5) / (std::exp(1.5) + std::exp(2.0));
  EXPECT_NEAR(line.Row().out[0], 10 * w + 20 * (1 - w), 1e-14 * 20);
  bias.Fill(-kInfinity);
  ExpectEmpty(line.Row());
  bias.FillFrom({0, kInfinity, 0, 0, 0, 0, 0, 0, 0, 0});
  ExpectUnspecified(line.Row());
}

TEST(ScoreTest, BiasHasItsOwnBatchAndHeadAxes) {
  for (const std::int64_t batch : {1, 2}) {
    Scene scene;
    PlainCall call = MakePlainCall(scene, "BNSD");
    Tensor bias(DataType::kFloat16, {batch, 2, 3, 6});
    Rng rng(5);
    bias.FillIntegers(&rng, -3, 3);
    call.params.scores.pse_shift = bias.view();
    scene.bias = [&](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
      return bias.At({batch == 1 ? 0 : b, n, i, j});
    };
    for (std::int64_t b = 0; b < 2; ++b) {
      ExpectRow(RowOf(call.params, b, 1, 1),
                Solve(scene, b, 1, 1, FirstKeys(scene.kv_lengths[static_cast<std::size_t>(b)])));
    }
  }
}

TEST(ScoreTest, PackedBiasCountsWithinTheSequence) {
  Scene scene;
  PlainCall call = MakePlainCall(scene, "TND");
  Tensor bias(DataType::kFloat16, {2, 2, 3, 5}, {{}, {}, {false, true, false, false}, 0});
  Rng rng(6);
  bias.FillIntegers(&rng, -3, 3);
  call.params.scores.pse_shift = bias.view();
  scene.bias = [&](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
    return bias.At({b, n, i, j});
  };
  ExpectRow(RowOf(call.params, 0, 1, 2), Solve(scene, 0, 1, 2, FirstKeys(5)));
  ExpectRow(RowOf(call.params, 1, 0, 1), Solve(scene, 1, 0, 1, FirstKeys(4)));
}

// Rows 2, 3 of 5 and keys 4, 5, 6 of 8: queries, keys and bias are those of the padded positions.
TEST(ScoreTest, LeftPaddingMovesQueriesKeysAndBias) {
  Scene scene;
  scene.query_lengths = {5};
  scene.kv_lengths = {8};
  PlainCall call = MakePlainCall(scene, "BNSD");
  Tensor size(DataType::kInt64, {1});
  size.Set(0, 1);
  Tensor bias(DataType::kFloat16, {1, 2, 5, 8});
  Rng rng(7);
  bias.FillIntegers(&rng, -2, 2);
  call.params.lengths = SequenceLengths{{2}, {3}};
  call.params.padding = LeftPadding{size.view(), size.view()};
  call.params.scores.pse_shift = bias.view();
  scene.bias = [&](auto b, auto n, auto i, auto j) { return bias.At({b, n, i, j}); };
  for (std::int64_t position = 2; position < 4; ++position)
    ExpectRow(RowOf(call.params, 0, 1, position), Solve(scene, 0, 1, position, {4, 5, 6}));
}

// One more 64 elements of query and key: the same as a head dim of 16 + 64.
TEST(ScoreTest, RopeAddsToTheDotProduct) {
  for (const char* layout : {"BSH", "BNSD_NBSD", "TND"}) {
    Scene scene;
    PlainCall call = MakePlainCall(scene, layout);
    const std::string form = InputForm(layout);
    const Tensor query_rope =
        Arrange({form, DataType::kFloat16, 3, {}}, scene.query_lengths, 2, 64, Stream(4));
    const Tensor key_rope = Arrange({form, DataType::kFloat16, 5, {}}, scene.kv_lengths, 1, 64, Stream(5));
    call.params.rope = Rope{query_rope.view(), key_rope.view()};
    const auto joined = [](int first, int second) {
      return [first, second](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) {
        return d < 16 ? Stream(first)(b, n, i, d) : Stream(second)(b, n, i, d - 16);
      };
    };
    scene.query = joined(1, 4);
    scene.key = joined(2, 5);
    scene.dim = 80;
    ExpectRow(RowOf(call.params, 1, 1, 1), Solve(scene, 1, 1, 1, FirstKeys(4)));
    ExpectRow(RowOf(call.params, 0, 0, 2), Solve(scene, 0, 0, 2, FirstKeys(5)));
  }
}

TEST(ScoreTest, ScaleIsUsedAsFloat) {
  Line line({8, 16}, {0, 1});
  for (const double scale : {0.1, 0.0, -0.3}) {
    line.params.scores.scale = scale;
    const double difference = 8 * static_cast<double>(static_cast<float>(scale));
    EXPECT_DOUBLE_EQ(line.Row().out[0], 1 / (1 + std::exp(-difference))) << scale;
  }
}

// q = 1, every k = bf16(level/128) but the first, which is 5000/128 more: the answer is v[0], however low all
// scores are.
TEST(ScoreTest, VeryLowScoresAreScores) {
  for (const auto& [level, lse] : {std::pair(-1e5, -8417.40), std::pair(-1e6, -87975.40)}) {
    Tensor query(DataType::kBfloat16, {1, 1, 1, 128});
    Tensor key(DataType::kBfloat16, {1, 64, 1, 128});
    Tensor value(DataType::kBfloat16, {1, 64, 1, 128});
    query.Fill(1);
    key.Fill(level / 128);
    for (std::int64_t d = 0; d < 128; ++d) key.Put({0, 0, 0, d}, (level + 5000) / 128);
    Rng rng(3);
    value.FillNormal(&rng);
    AttentionParams params;
    params.query = query.view();
    params.key = {key.view()};
    params.value = {value.view()};
    params.attention_out = query.view();
    params.heads = {"BSND", 1, 1};
    params.scores.scale = 1 / std::sqrt(128.0);
    const ReferenceRow row = RowOf(params, 0, 0, 0);
    EXPECT_NEAR(row.lse, lse, 0.01);
    for (std::int64_t d = 0; d < 128; ++d)
      EXPECT_DOUBLE_EQ(row.out[static_cast<std::size_t>(d)], value.At({0, 0, 0, d}));
  }
}

TEST(ScoreTest, ManyEqualScores) {
  Line line(std::vector<double>(512, 3.0), std::vector<double>(512, 0.75));
  EXPECT_DOUBLE_EQ(line.Row().lse, 3 + std::log(512.0));
  EXPECT_DOUBLE_EQ(line.Row().out[0], 0.75);
}

TEST(ScoreTest, NaNMattersOnlyWhereItIsAttended) {
  const Scene scene;
  PlainCall call = MakePlainCall(scene, "BSND");
  Tensor mask(DataType::kBool, {1, 3, 5});
  for (std::int64_t row = 0; row < 2; ++row) mask.Put({0, row, 1}, 1);
  call.params.mask = Mask{mask.view(), 1, 0, 0};
  const std::vector<std::int64_t> keys = {0, 2, 3, 4};
  for (const double bad : {kNaN, kInfinity}) {
    call.key.Put({0, 1, 0, 7}, bad);
    ExpectRow(RowOf(call.params, 0, 0, 1), Solve(scene, 0, 0, 1, keys));
    ExpectUnspecified(RowOf(call.params, 0, 0, 2));
    call.key.Put({0, 1, 0, 7}, scene.key(0, 0, 1, 7));
    // A value spoils its own element alone.
    call.value.Put({0, 1, 0, 7}, bad);
    ExpectRow(RowOf(call.params, 0, 0, 1), Solve(scene, 0, 0, 1, keys));
    const ReferenceRow row = RowOf(call.params, 0, 0, 2);
    const Answer answer = Solve(scene, 0, 0, 2, FirstKeys(5));
    EXPECT_NEAR(row.lse, answer.lse, 1e-12);
    for (std::size_t d = 0; d < 16; ++d) {
      if (d != 7) {
        EXPECT_NEAR(row.out[d], answer.out[d], 1e-12);
      }
      EXPECT_EQ(std::isnan(row.out_low[d]), d == 7);
      EXPECT_EQ(std::isnan(row.out_high[d]), d == 7);
    }
    call.value.Put({0, 1, 0, 7}, scene.value(0, 0, 1, 7));
    call.query.Put({0, 2, 1, 0}, bad);
    ExpectUnspecified(RowOf(call.params, 0, 1, 2));
    ExpectRow(RowOf(call.params, 0, 1, 1), Solve(scene, 0, 1, 1, keys));
    call.query.Put({0, 2, 1, 0}, scene.query(0, 1, 2, 0));
  }
}

// Sums of 2^127 and more lie outside the contract.
TEST(ScoreTest, BeyondTheDomainNothingIsPromised) {
  Line line({0x1p127, 0}, {1, 1});
  ExpectUnspecified(line.Row());
  line.key.Set(0, 0x1p126);
  EXPECT_DOUBLE_EQ(line.Row().lse, 0x1p126);
  line.value.Set(1, 0x1p126);  // n max|v| = 2^127
  EXPECT_TRUE(std::isnan(line.Row().out_low[0]));
  EXPECT_DOUBLE_EQ(line.Row().lse, 0x1p126);
}

}  // namespace
}  // namespace fia::testing
