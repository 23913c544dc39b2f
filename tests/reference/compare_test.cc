// The judge: passes what is right, fails what is wrong, and can tell them apart just inside and outside.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fia/half.h"
#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A plain call whose output holds the exact answer, rounded once.
struct Judged {
  explicit Judged(DataType dtype = DataType::kFloat16, const std::string& layout = "BSND") {
    call = MakePlainCall(scene, layout);
    call.out = Tensor(dtype, call.out.dims(), {{1, 3, 0, 2}, {}, {}, 1});
    lse = Tensor(DataType::kFloat32, {2, 2, 3, 1});
    call.params.attention_out = call.out.view();
    call.params.softmax_lse = lse.view();
    EXPECT_TRUE(reference::ComputeAccepted(call.params, nullptr, &reference).ok());
    for (const ReferenceRow& row : reference.rows) {
      const RowIndex& at = row.index;
      for (std::size_t d = 0; d < row.out.size(); ++d)
        call.out.Put({at.sequence, at.position, at.head, static_cast<std::int64_t>(d)}, row.out[d]);
      lse.Put({at.sequence, at.head, at.position, 0}, row.lse);
    }
  }

  Comparison Compare() const { return CompareWithReference(call.params, reference); }
  const ReferenceRow& Row(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return reference.rows[static_cast<std::size_t>(b * 6 + n * 3 + i)];
  }

  Scene scene;
  PlainCall call;
  Tensor lse;
  ReferenceResult reference;
};

TEST(CompareTest, PassesTheExactAnswer) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32}) {
    const Judged judged(dtype);
    const Comparison comparison = judged.Compare();
    EXPECT_TRUE(comparison.passed) << comparison.message;
    EXPECT_LE(comparison.worst_ratio, 0.5);  // one rounding is half an ulp
    EXPECT_EQ(comparison.compared, 2 * 3 * 2 * 17);
    EXPECT_EQ(comparison.message.find('\n'), std::string::npos);
  }
}

// The float16 numbers next to the ends of the range, on either side of each.
TEST(CompareTest, TellsInsideFromOutside) {
  Judged judged;
  const ReferenceRow& row = judged.Row(1, 1, 1);
  for (std::int64_t d = 0; d < 16; ++d) {
    const std::size_t at = static_cast<std::size_t>(d);
    ASSERT_GT(std::fabs(row.out[at]), 1e-3);
    const double step = std::ldexp(1.0, std::ilogb(row.out_high[at]) - 10);
    const double inside = std::floor(row.out_high[at] / step) * step;
    judged.call.out.Put({1, 1, 1, d}, inside);
    ASSERT_EQ(judged.call.out.At({1, 1, 1, d}), inside);
    Comparison comparison = judged.Compare();
    EXPECT_TRUE(comparison.passed) << comparison.message;
    EXPECT_LE(comparison.worst_ratio, 1.0);
    judged.call.out.Put({1, 1, 1, d}, inside + step);
    ASSERT_EQ(judged.call.out.At({1, 1, 1, d}), inside + step);
    comparison = judged.Compare();
    EXPECT_FALSE(comparison.passed);
    EXPECT_GT(comparison.worst_ratio, 1.0);
    EXPECT_EQ(comparison.worst_dim, d);
    EXPECT_EQ(comparison.worst_row.sequence, 1);
    EXPECT_EQ(comparison.worst_row.head, 1);
    EXPECT_EQ(comparison.worst_row.position, 1);
    EXPECT_EQ(comparison.worst_got, inside + step);
    EXPECT_EQ(comparison.worst_exact, row.out[at]);
    judged.call.out.Put({1, 1, 1, d}, row.out[at]);
  }
}

TEST(CompareTest, TellsInsideFromOutsideForLse) {
  Judged judged;
  const ReferenceRow& row = judged.Row(0, 1, 2);
  judged.lse.Put({0, 1, 2, 0}, row.lse + 0.97 * row.lse_tolerance);
  EXPECT_TRUE(judged.Compare().passed) << judged.Compare().message;
  for (const double factor : {1.05, -1.05}) {
    judged.lse.Put({0, 1, 2, 0}, row.lse + factor * row.lse_tolerance);
    const Comparison comparison = judged.Compare();
    EXPECT_FALSE(comparison.passed);
    EXPECT_EQ(comparison.worst_dim, -1);
    EXPECT_NEAR(comparison.worst_ratio, 1.05, 0.03);
  }
  judged.call.params.softmax_lse.reset();
  EXPECT_TRUE(judged.Compare().passed);
  EXPECT_EQ(judged.Compare().compared, 2 * 3 * 2 * 16);
}

TEST(CompareTest, NaNOrInfinityOnOneSideFails) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    Judged judged;
    judged.call.out.Put({0, 0, 0, 5}, bad);
    Comparison comparison = judged.Compare();
    EXPECT_FALSE(comparison.passed);
    EXPECT_EQ(comparison.worst_ratio, kInfinity);
    EXPECT_EQ(comparison.worst_dim, 5);
    judged.call.out.Put({0, 0, 0, 5}, judged.Row(0, 0, 0).out[5]);
    judged.lse.Put({0, 0, 0, 0}, bad);
    EXPECT_FALSE(judged.Compare().passed);
  }
}

TEST(CompareTest, EmptyRowsAreExactlyZeroAndInfinity) {
  Judged judged;
  ASSERT_TRUE(judged.Row(1, 0, 2).empty);
  judged.call.out.Put({1, 2, 0, 3}, 6e-8);
  EXPECT_FALSE(judged.Compare().passed);
  judged.call.out.Put({1, 2, 0, 3}, -0.0);
  EXPECT_TRUE(judged.Compare().passed);
  for (const double bad : {kNaN, -kInfinity, 3e38, 0.0}) {
    judged.lse.Put({1, 0, 2, 0}, bad);
    EXPECT_FALSE(judged.Compare().passed) << bad;
  }
}

TEST(CompareTest, NothingPromisedIsNotCompared) {
  Judged judged;
  ReferenceRow& row = judged.reference.rows[0];
  row.out[3] = row.out_low[3] = row.out_high[3] = kNaN;
  row.lse = row.lse_tolerance = kNaN;
  for (const double anything : {kNaN, kInfinity, 1.0}) {
    judged.call.out.Put({0, 0, 0, 3}, anything);
    judged.lse.Put({0, 0, 0, 0}, anything);
    EXPECT_TRUE(judged.Compare().passed) << judged.Compare().message;
    EXPECT_EQ(judged.Compare().compared, 2 * 3 * 2 * 17 - 2);
  }
}

TEST(CompareTest, OverflowIsRightWhereTheRangeSaysSo) {
  Judged judged;
  ReferenceRow& row = judged.reference.rows[0];
  row.out[0] = 65510;
  row.out_low[0] = 65470;
  row.out_high[0] = kInfinity;
  judged.call.out.Put({0, 0, 0, 0}, kInfinity);
  EXPECT_TRUE(judged.Compare().passed) << judged.Compare().message;
  judged.call.out.Put({0, 0, 0, 0}, 65504);
  EXPECT_TRUE(judged.Compare().passed);
  judged.call.out.Put({0, 0, 0, 0}, -kInfinity);
  EXPECT_FALSE(judged.Compare().passed);
  judged.call.out.Put({0, 0, 0, 0}, 65440);
  EXPECT_FALSE(judged.Compare().passed);
}

TEST(CompareTest, Int8CountsDifferences) {
  Tensor out(DataType::kInt8, {1, 1, 1, 4});
  out.FillFrom({2, 3, 127, -7});
  AttentionParams params;
  params.query = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 1, 1, 4});
  params.key = params.value = {params.query};
  params.attention_out = out.view();
  params.heads = {"BSND", 1, 1};
  ReferenceResult reference;
  reference.value_dim = 4;
  reference.rows.resize(1);
  reference.rows[0].out = {2.2, 2.499, 300, -7.4};
  reference.rows[0].out_low = {2, 2, 127, -7};
  reference.rows[0].out_high = {2, 3, 127, -7};
  Comparison comparison = CompareWithReference(params, reference);
  EXPECT_TRUE(comparison.passed) << comparison.message;
  EXPECT_EQ(comparison.differing, 1);
  EXPECT_EQ(comparison.worst_ratio, 1.0);
  out.Set(3, -8);
  comparison = CompareWithReference(params, reference);
  EXPECT_FALSE(comparison.passed);
  EXPECT_EQ(comparison.differing, 2);
  EXPECT_EQ(comparison.worst_dim, 3);
}

TEST(CompareTest, WhatCannotBeComparedHasNotPassed) {
  Judged judged;
  AttentionParams params = judged.call.params;
  params.attention_out.data = nullptr;
  EXPECT_FALSE(CompareWithReference(params, judged.reference).passed);
  EXPECT_FALSE(CompareWithReference(params, judged.reference).message.empty());
  judged.reference.rows[0].index.position = 3;
  EXPECT_FALSE(judged.Compare().passed);
  judged.reference.rows[0].index.position = 0;
  judged.reference.value_dim = 15;
  EXPECT_FALSE(judged.Compare().passed);
  EXPECT_FALSE(CompareWithReference(AttentionParams(), judged.reference).passed);
  params = judged.call.params;
  params.query.dims[0] = -5;
  EXPECT_FALSE(CompareWithReference(params, judged.reference).passed);
}

// Lengths of two sequences where the tensors hold three: there is no third to read.
TEST(CompareTest, LengthsForTooFewSequencesHaveNotPassed) {
  Judged judged;
  AttentionParams params = judged.call.params;
  params.query.dims[0] = params.attention_out.dims[0] = 3;
  params.lengths.emplace();
  params.lengths->query = {1, 1};
  EXPECT_FALSE(CompareWithReference(params, judged.reference).passed);
}

}  // namespace
}  // namespace fia::testing
