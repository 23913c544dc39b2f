// int8 query, int8 output and int8 MLA by numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

// Two equal rows of one head, D = Dv = 1, q = 1: key j has score keys[j] * deqScale1.
struct Int8Line {
  Int8Line(const std::vector<double>& keys, const std::vector<double>& values)
      : query(DataType::kInt8, {1, 2, 1, 1}),
        key(DataType::kInt8, {1, static_cast<std::int64_t>(keys.size()), 1, 1}),
        value(DataType::kInt8, {1, static_cast<std::int64_t>(values.size()), 1, 1}),
        out(DataType::kFloat16, {1, 2, 1, 1}),
        deq1(DataType::kFloat32, {1}),
        quant1(DataType::kFloat32, {1}),
        deq2(DataType::kFloat32, {1}) {
    query.Fill(1);
    key.FillFrom(keys);
    value.FillFrom(values);
    deq1.Fill(1);
    quant1.Fill(127);
    deq2.Fill(0.0078125);
    params.query = query.view();
    params.key = {key.view()};
    params.value = {value.view()};
    params.attention_out = out.view();
    params.heads = {"BSND", 1, 1};
    params.quantisation.emplace();
    params.quantisation->int8_flow = Int8Flow{deq1.view(), quant1.view(), deq2.view()};
  }

  ReferenceRow Row() const { return RowOf(params, 0, 0, 1); }

  Tensor query, key, value, out, deq1, quant1, deq2;
  AttentionParams params;
};

// p = 1, e^-1, e^-2; 127 p = 127, 46.72, 17.19.
TEST(Int8FlowTest, WeightsAreRoundedOverTheFinalMaximum) {
  Int8Line line({-2, 0, -1}, {100, 10, -20});
  const double sum = 1 + std::exp(-1.0) + std::exp(-2.0);
  const double factor = 0.0078125 / sum;
  const double exact = (17 * 100 + 127 * 10 - 47 * 20) * factor;
  const double weight = (17 * 100 + 127 * 10 + 47 * 20) * factor;
  const ReferenceRow row = line.Row();
  EXPECT_NEAR(row.out[0], exact, 1e-13);
  EXPECT_NEAR(row.lse, std::log(sum), 1e-14);                      // from the unrounded p
  const double bound = 0x1p-7 + (0x1p-16 + 0x1p-18 * 2) * weight;  // exact is 10.55
  EXPECT_NEAR(row.out_low[0], exact - bound, 1e-12);
  EXPECT_NEAR(row.out_high[0], exact + bound, 1e-12);
}

TEST(Int8FlowTest, ScaleAndBiasComeAfterTheDequantisation) {
  Int8Line line({-4, 2}, {0, 100});
  Tensor bias(DataType::kFloat16, {1, 1, 2, 2});
  bias.FillFrom({9, 9, 1, 0});
  line.deq1.Fill(0.25);
  line.params.scores.scale = 2;
  line.params.scores.pse_shift = bias.view();
  EXPECT_NEAR(line.Row().lse, std::log(std::exp(-1.0) + std::exp(1.0)), 1e-14);  // -4/4*2+1, 2/4*2
}

TEST(Int8FlowTest, DeqScalesAsUint64UseTheLowHalf) {
  Int8Line line({-2, 0, -1}, {100, 10, -20});
  line.deq1.Fill(0.3);
  const ReferenceRow expected = line.Row();
  Tensor wide1(DataType::kUint64, {1}), wide2(DataType::kUint64, {1});
  const auto bits_of = [](double value) {
    const float narrow = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
  };
  wide1.SetBits(0, 0xdeadbeef00000000u | bits_of(0.3));
  wide2.SetBits(0, 0x0000400000000000u | bits_of(0.0078125));
  line.params.quantisation->int8_flow->deq_scale1 = wide1.view();
  EXPECT_EQ(line.Row().out[0], expected.out[0]);
  line.params.quantisation->int8_flow->deq_scale2 = wide2.view();
  EXPECT_EQ(line.Row().out[0], expected.out[0]);
  EXPECT_EQ(line.Row().lse, expected.lse);
}

TEST(Int8FlowTest, WeightsSaturate) {
  Int8Line line({0, 0}, {3, 5});
  line.quant1.Fill(1000);
  line.deq2.Fill(1);
  EXPECT_EQ(line.Row().out[0], 127 * 8 / 2);
  line.quant1.Fill(-1000);
  EXPECT_EQ(line.Row().out[0], -128 * 8 / 2);
  line.quant1.Fill(2.5);  // to even
  EXPECT_EQ(line.Row().out[0], 2 * 8 / 2);
}

// p of the second key is 1/2 but for float rounding of ln 2: with quantScale1 = 1 it may be 0 or 1.
TEST(Int8FlowTest, AWeightNearAHalfMayBeEitherNeighbour) {
  Int8Line line({0, -1}, {0, 99});
  line.deq1.Fill(std::log(2.0));
  line.quant1.Fill(1);
  line.deq2.Fill(-1);
  const ReferenceRow row = line.Row();
  EXPECT_LT(row.out_low[0], -66.0);
  EXPECT_GT(row.out_low[0], -66.1);
  EXPECT_GT(row.out_high[0], 0.0);
  EXPECT_LT(row.out_high[0], 0.1);
  EXPECT_TRUE(std::fabs(row.out[0]) < 1e-6 || std::fabs(row.out[0] + 66) < 1e-4);
  line.quant1.Fill(1.001);  // 0.5005: A = ln 2, so the slack is 1.69 * 2^-18 = 6.5e-6
  EXPECT_LT(line.Row().out_high[0], -65.9);
  line.quant1.Fill(1.00001);  // 0.500005
  EXPECT_GT(line.Row().out_high[0], 0.0);
  line.quant1.Fill(1);
  line.value.Fill(-99);  // the sum of both: 99 / 1.5 for p8 of 1 and 0, twice that for 1 and 1
  EXPECT_NEAR(line.Row().out_low[0], 66, 0.1);
  EXPECT_NEAR(line.Row().out_high[0], 132, 0.2);
}

TEST(Int8FlowTest, Int8OutputOfTheInt8Flow) {
  Int8Line line({0}, {100});
  Tensor out(DataType::kInt8, {1, 2, 1, 1});
  Tensor scale(DataType::kFloat32, {1});
  scale.Fill(0.25);
  line.deq2.Fill(1.0 / 127);
  line.params.attention_out = out.view();
  line.params.quantisation->int8_output = Int8Output{scale.view(), TensorView()};
  EXPECT_NEAR(line.Row().out[0], 25, 1e-4);
  EXPECT_EQ(line.Row().out_low[0], 25);
  EXPECT_EQ(line.Row().out_high[0], 25);
}

// One decode row of one key whose value is the output.
struct OutputCall {
  explicit OutputCall(const std::vector<double>& values, std::int64_t heads = 1) {
    const std::int64_t dim = static_cast<std::int64_t>(values.size()) / heads;
    query = Tensor(DataType::kBfloat16, {1, heads, 1, dim});
    value = Tensor(DataType::kBfloat16, {1, heads, 1, dim});
    value.FillFrom(values);
    out = Tensor(DataType::kInt8, {1, heads, 1, dim});
    params.query = query.view();
    params.key = {query.view()};
    params.value = {value.view()};
    params.attention_out = out.view();
    params.heads = {"BNSD", heads, heads};
    params.quantisation.emplace();
    params.quantisation->int8_output.emplace();
  }
  Int8Output& output() { return *params.quantisation->int8_output; }

  Tensor query, value, out;
  AttentionParams params;
};

TEST(Int8OutputTest, RoundsToNearestEvenAndSaturates) {
  OutputCall call({1.25, 1.75, 100, -100, 1.125});
  Tensor scale(DataType::kFloat32, {1, 1});
  scale.Fill(2);
  call.output().scale = scale.view();
  const ReferenceRow row = RowOf(call.params, 0, 0, 0);
  EXPECT_EQ(row.out, std::vector<double>({2.5, 3.5, 200, -200, 2.25}));
  EXPECT_EQ(row.out_low, std::vector<double>({2, 3, 127, -128, 2}));
  EXPECT_EQ(row.out_high, std::vector<double>({3, 4, 127, -128, 2}));
  // The judge counts a half that was not rounded to even.
  ReferenceResult result;
  ASSERT_TRUE(reference::ComputeAccepted(call.params, nullptr, &result).ok());
  call.out.FillFrom({2, 4, 127, -128, 2});
  EXPECT_EQ(CompareWithReference(call.params, result).differing, 0);
  call.out.Set(0, 3);
  EXPECT_EQ(CompareWithReference(call.params, result).differing, 1);
  EXPECT_TRUE(CompareWithReference(call.params, result).passed);
  call.out.Set(4, 3);
  EXPECT_FALSE(CompareWithReference(call.params, result).passed);
}

TEST(Int8OutputTest, ScalesAndOffsetsForEachHeadAndElement) {
  OutputCall call({1, 2, 3, 4, 5, 6}, 2);
  const std::vector<double> scales = {1, 2, 4, 8, 0.5, 0.25};
  const std::vector<double> offsets = {0, 1, -1, 0.25, 3, 0};
  const std::vector<std::int64_t> shapes[] = {{2, 3}, {6}, {1, 2, 1, 3}, {1, 1, 6}, {3, 2}};
  for (const std::vector<std::int64_t>& shape : shapes) {
    for (const DataType dtype : {DataType::kFloat32, DataType::kBfloat16}) {
      const std::vector<std::int64_t> gaps(shape.size(), 1);
      Tensor scale(dtype, shape, {{}, gaps, {}, 0});
      Tensor offset(dtype, shape);
      scale.FillFrom(scales);
      offset.FillFrom(offsets);
      call.output() = {scale.view(), offset.view()};
      EXPECT_EQ(RowOf(call.params, 0, 0, 0).out, std::vector<double>({1, 5, 11}));
      EXPECT_EQ(RowOf(call.params, 0, 1, 0).out, std::vector<double>({32.25, 5.5, 1.5}));
      call.output().offset = TensorView();
      EXPECT_EQ(RowOf(call.params, 0, 1, 0).out, std::vector<double>({32, 2.5, 1.5}));
    }
  }
}

TEST(Int8OutputTest, EmptyRowsAreZeroButForDecodeWithoutKeys) {
  OutputCall call({1, 2, 3});
  Tensor scale(DataType::kFloat32, {1}), offset(DataType::kFloat32, {1});
  scale.Fill(1);
  offset.Fill(3.5);
  call.output() = {scale.view(), offset.view()};
  Tensor mask(DataType::kBool, {1, 1});
  mask.Fill(1);
  call.params.mask = Mask{mask.view(), 0, 0, 0};
  ExpectEmpty(RowOf(call.params, 0, 0, 0));  // all keys masked: 0
  call.params.mask.reset();
  call.params.lengths = SequenceLengths{{}, {0}};
  ReferenceRow row = RowOf(call.params, 0, 0, 0);
  EXPECT_TRUE(row.empty);
  EXPECT_EQ(row.lse, std::numeric_limits<double>::infinity());
  EXPECT_EQ(row.out_low, std::vector<double>({4, 4, 4}));
  EXPECT_EQ(row.out_high, std::vector<double>({4, 4, 4}));
  // One offset for each head and element.
  OutputCall wide({1, 2, 3, 4}, 2);
  Tensor scales(DataType::kFloat32, {2, 2}), offsets(DataType::kFloat32, {2, 2});
  offsets.FillFrom({1, -2, 200, 4.5});
  wide.output() = {scales.view(), offsets.view()};
  wide.params.lengths = SequenceLengths{{}, {0}};
  EXPECT_EQ(RowOf(wide.params, 0, 0, 0).out_low, std::vector<double>({1, -2}));
  EXPECT_EQ(RowOf(wide.params, 0, 1, 0).out_low, std::vector<double>({127, 4}));
  call.params.heads.layout = "BNSD_BSND";  // no decode call
  call.params.attention_out = TensorView::Contiguous(nullptr, DataType::kInt8, {1, 1, 1, 3});
  ExpectEmpty(RowOf(call.params, 0, 0, 0));
}

TEST(Int8OutputTest, ANaNScaleSpoilsItsElement) {
  OutputCall call({1, 2});
  Tensor scale(DataType::kFloat32, {1, 2});
  scale.FillFrom({std::nan(""), 1});
  call.output().scale = scale.view();
  const ReferenceRow row = RowOf(call.params, 0, 0, 0);
  EXPECT_TRUE(std::isnan(row.out_low[0]));
  EXPECT_EQ(row.out_low[1], 2);
}

// Head dim 32 and rope 64 in NZ caches with blocks of 128, 1100 keys of one sequence in shuffled blocks.
struct MlaCall {
  static constexpr std::int64_t kKeys = 1100, kDim = 32, kRope = 64, kBlocks = 10, kHeads = 2;

  MlaCall()
      : query(DataType::kInt8, {1, 1, kHeads, kDim}),
        query_rope(DataType::kBfloat16, {1, 1, kHeads, kRope}),
        query_scale(DataType::kFloat32, {1, 1, kHeads}),
        key(DataType::kInt8, {kBlocks, 1, 1, 128, 32}),
        value(DataType::kInt8, {kBlocks, 1, 1, 128, 32}),
        key_rope(DataType::kBfloat16, {kBlocks, 1, kRope / 16, 128, 16}),
        key_scale(DataType::kFloat32, {1}),
        value_scale(DataType::kFloat32, {1}),
        table(DataType::kInt32, {1, 9}),
        out(DataType::kBfloat16, {1, 1, kHeads, kDim}) {
    table.FillFrom({3, 9, 0, 7, 1, 8, 2, 6, 4});
    query_scale.FillFrom({0.5, 0.25});
    key_scale.Fill(0.125);
    value_scale.Fill(0.75);
    params.query = query.view();
    params.key = {key.view()};
    params.value = {value.view()};
    params.attention_out = out.view();
    params.heads = {"BSND", kHeads, 1};
    params.lengths = SequenceLengths{{}, {kKeys}};
    params.paged = PagedCache{table.view(), 128};
    params.rope = Rope{query_rope.view(), key_rope.view()};
    params.quantisation.emplace();
    params.quantisation->kv_antiquant.emplace();
    params.quantisation->kv_antiquant->key_scale = key_scale.view();
    params.quantisation->kv_antiquant->value_scale = value_scale.view();
    params.quantisation->int8_mla = Int8Mla{query_scale.view(), 3};
  }

  std::int64_t Block(std::int64_t j) const { return static_cast<std::int64_t>(table.Get(j / 128)); }

  Tensor query, query_rope, query_scale, key, value, key_rope, key_scale, value_scale, table, out;
  AttentionParams params;
};

// Head 0: query scale 1/2, key scale 1/8, so a rotary product of 16 counts 1. A key's score is -(its block of
// 512), 3 less for odd keys, 1/2 less in the lower half of a block. Weights are rounded within the block:
// 127, 6, and in the lower halves 127 exp(-1/2) = 77.03 and 127 exp(-7/2) = 3.84. The last block has 38
// pairs, all in its lower half, and so a maximum of its own.
TEST(Int8MlaTest, WeightsAreRoundedOverTheirBlocksMaximum) {
  MlaCall call;
  call.query_rope.Put({0, 0, 0, 0}, 1);
  for (std::int64_t j = 0; j < MlaCall::kKeys; ++j) {
    const double less = static_cast<double>(j / 512 + j % 2 * 3) + (j % 512 < 256 ? 0.5 : 0.0);
    call.key_rope.Put({call.Block(j), 0, 0, j % 128, 0}, -16 * less);
    call.value.Put({call.Block(j), 0, 0, j % 128, 5}, static_cast<double>(j % 2 * 100 + j / 512));
  }
  double sum = 0, values = 0;
  const auto add = [&](double pairs, double block_max, double less, double even, double odd, double value) {
    sum += pairs * std::exp(block_max - less) * (1 + std::exp(-3.0));
    values += pairs * std::exp(block_max) * (even * value + odd * (100 + value)) / 127;
  };
  add(128, 0, 0, 127, 6, 0);
  add(128, 0, 0.5, 77, 4, 0);
  add(128, -1, 0, 127, 6, 1);
  add(128, -1, 0.5, 77, 4, 1);
  add(38, -2.5, 0, 127, 6, 2);
  const ReferenceRow row = RowOf(call.params, 0, 0, 0);
  EXPECT_NEAR(row.lse, std::log(sum), 1e-12);
  EXPECT_NEAR(row.out[5], values * 0.75 / sum, 1e-11);
  EXPECT_EQ(row.out[4], 0.0);
}

TEST(Int8MlaTest, ScoresJoinBothProductsAndAllScales) {
  MlaCall call;
  call.params.lengths->key_value = {2};
  call.params.scores.scale = 0.5;
  call.query.Put({0, 0, 1, 31}, 7);
  call.query_rope.Put({0, 0, 1, 63}, 1.5);
  call.key.Put({3, 0, 0, 1, 31}, 9);
  call.key_rope.Put({3, 0, 3, 1, 15}, 4);
  const double score = (7 * 9 + 1.5 * 4) * 0.25 * 0.125 * 0.5;
  const ReferenceRow row = RowOf(call.params, 0, 1, 0);
  EXPECT_NEAR(row.lse, std::log(1 + std::exp(score)), 1e-14);
  EXPECT_NEAR(row.lse_tolerance, 4e-6 * row.lse, 1e-12);  // A = 1.08 < lse
  EXPECT_NEAR(RowOf(call.params, 0, 0, 0).lse, std::log(2.0), 1e-14);
}

// 127 exp(s - c) = 63.5 for s - c = -ln 2: both 63 and 64 are right.
TEST(Int8MlaTest, AWeightNearAHalfMayBeEitherNeighbour) {
  MlaCall call;
  call.params.lengths->key_value = {2};
  call.query_rope.Put({0, 0, 0, 0}, 1);
  call.query_scale.Put({0, 0, 0}, 8 * std::log(2.0));
  call.key_rope.Put({3, 0, 0, 1, 0}, -1);
  call.value.Put({3, 0, 0, 1, 0}, 127);
  call.value_scale.Fill(1.5);
  const ReferenceRow row = RowOf(call.params, 0, 0, 0);
  const double error = 0x1p-2 + (0x1p-16 + 0x1p-18 * std::log(2.0)) * 64;  // ulp of bfloat16 at 63
  EXPECT_NEAR(row.out_low[0], 63 - error, 1e-3);
  EXPECT_NEAR(row.out_high[0], 64 + error + 0x1p-2, 1e-3);  // ulp doubles at 64
}

}  // namespace
}  // namespace fia::testing
