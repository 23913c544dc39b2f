// The thirteen layouts: every row of every sequence against the answer from the numbers themselves.
#include <gtest/gtest.h>

#include <string>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

class LayoutTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LayoutTest, EveryRowIsRight) {
  Scene scene;
  scene.heads = 4;
  scene.kv_heads = 2;
  scene.value_dim = 8;
  const PlainCall call = MakePlainCall(scene, GetParam());
  ReferenceResult result;
  ASSERT_TRUE(reference::ComputeAccepted(call.params, nullptr, &result).ok());
  const bool packed = InputForm(GetParam()).find('T') != std::string::npos;
  EXPECT_EQ(result.rows.size(), 4u * (packed ? 5u : 6u));
  EXPECT_EQ(result.value_dim, 8);
  for (const ReferenceRow& row : result.rows) {
    SCOPED_TRACE(row.index.sequence * 100 + row.index.head * 10 + row.index.position);
    const std::size_t b = static_cast<std::size_t>(row.index.sequence);
    if (row.index.position >= scene.query_lengths[b]) {
      ExpectEmpty(row);
      continue;
    }
    ExpectRow(row, Solve(scene, row.index.sequence, row.index.head, row.index.position,
                         FirstKeys(scene.kv_lengths[b])));
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest,
                         ::testing::Values("BSH", "BSND", "BNSD", "BSH_BNSD", "BSND_BNSD", "BNSD_BSND",
                                           "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND", "NTD", "NTD_TND",
                                           "TND_NTD"));

// The judge finds each written element where the layout says it lies, and the lse.
TEST_P(LayoutTest, TheJudgeReadsWhereTheLayoutSays) {
  Scene scene;
  const std::string layout = GetParam();
  PlainCall call = MakePlainCall(scene, layout);
  const bool packed = InputForm(layout).find('T') != std::string::npos;
  const auto number = [](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) {
    return static_cast<double>(b * 1000 + n * 100 + i * 16 + d);
  };
  Tensor out = Arrange({OutputForm(layout), DataType::kFloat16, 3, {}}, scene.query_lengths, 2, 16, number);
  Tensor lse =
      Arrange({packed ? "TND" : "BNSD", DataType::kFloat32, 3, {}}, scene.query_lengths, 2, 1, number);
  call.params.attention_out = out.view();
  call.params.softmax_lse = lse.view();
  ReferenceResult expected;
  expected.value_dim = 16;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t i = 0; i < scene.query_lengths[static_cast<std::size_t>(b)]; ++i) {
      ReferenceRow row;
      row.index = {b, 1, i};
      for (std::int64_t d = 0; d < 16; ++d) row.out.push_back(number(b, 1, i, d));
      row.out_low = row.out_high = row.out;
      row.lse = number(b, 1, i, 0);
      expected.rows.push_back(row);
    }
  }
  const Comparison comparison = CompareWithReference(call.params, expected);
  EXPECT_TRUE(comparison.passed) << comparison.message;
  EXPECT_EQ(comparison.compared, 5 * 17);
  EXPECT_EQ(comparison.worst_ratio, 0.0);
}

}  // namespace
}  // namespace fia::testing
