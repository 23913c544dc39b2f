// Rows that nothing computes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "scene.h"

namespace fia::testing {
namespace {

TEST(Fill, RowsOutsideTheValidOnesAreZero) {
  Scene scene({4, 2, 8, 8, {{3, 20}, {0, 20}, {5, 0}, {7, 20}}, 9, 1});
  EXPECT_EQ(Difference(scene.Run(3), scene.Expected()), "");
}

TEST(Fill, WithoutLseNothingIsWrittenThere) {
  Scene scene({2, 1, 8, 8, {{3, 20}, {5, 0}}, 9, 2});
  scene.problem.lse = RowTensor();
  const Result got = scene.Run(2);
  for (const float x : got.lse) EXPECT_TRUE(std::isnan(x));
  Result expected = scene.Expected();
  Result out_only = got;
  expected.lse.clear();
  out_only.lse.clear();
  EXPECT_EQ(Difference(out_only, expected), "");
}

TEST(Fill, StridedOutputsKeepTheirGaps) {
  Scene scene({2, 1, 8, 8, {{3, 20}, {0, 5}}, 4, 3});
  const Result dense = scene.Run(1);
  // Elements two apart, in a buffer twice as large.
  RowTensor& out = scene.problem.out;
  out.row_stride *= 2;
  out.head_stride *= 2;
  out.dim_stride *= 2;
  for (Sequence& sequence : scene.problem.sequences) sequence.out_offset *= 2;
  Scene twice({2, 1, 8, 8, {{3, 20}, {0, 5}, {0, 0}, {0, 0}}, 4, 3});
  twice.query = scene.query;
  twice.key = scene.key;
  twice.value = scene.value;
  twice.problem = scene.problem;
  const Result got = twice.Run(1);
  for (std::size_t at = 0; at < got.out.size(); ++at) {
    if (at % 2 == 0) {
      EXPECT_EQ(got.out[at], dense.out[at / 2]) << at;
    } else {
      EXPECT_TRUE(std::isnan(got.out[at])) << at;
    }
  }
}

// A problem without sequences: the outputs are filled by their own dims and strides.
TEST(Fill, WholeOutputsAreFilledByTheirStrides) {
  Scene scene({1, 1, 2, 2, {{600, 1}}, 0, 4});
  Problem& problem = scene.problem;
  problem.sequences.clear();
  problem.fill_only = true;
  problem.fill_out.dtype = DataType::kFloat32;
  problem.fill_out.rank = 3;
  const std::int64_t dims[] = {2, 100, 2}, strides[] = {3, 6, 2};
  std::copy_n(dims, 3, problem.fill_out.dims);
  std::copy_n(strides, 3, problem.fill_out.strides);
  problem.fill_lse = TensorView::Contiguous(nullptr, DataType::kFloat32, {1, 1, 50, 1});
  const Result got = scene.Run(2);
  std::vector<float> expected(got.out.size(), NAN);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 100; ++j) {
      for (std::int64_t k = 0; k < 2; ++k) expected[i * 3 + j * 6 + k * 2] = 0;
    }
  }
  for (std::size_t at = 0; at < expected.size(); ++at) {
    EXPECT_EQ(std::isnan(got.out[at]), std::isnan(expected[at])) << at;
    EXPECT_TRUE(std::isnan(expected[at]) || got.out[at] == 0) << at;
  }
  for (std::size_t at = 0; at < got.lse.size(); ++at) {
    EXPECT_TRUE(at < 50 ? got.lse[at] == INFINITY : std::isnan(got.lse[at])) << at;
  }
}

TEST(Fill, LargeOutputsAreFilledInRuns) {
  Scene scene({1, 1, 2, 512, {{600, 1}}, 0, 4});
  scene.problem.sequences.clear();
  scene.problem.fill_only = true;
  scene.problem.fill_out = TensorView::Contiguous(nullptr, DataType::kFloat32, {600, 512});
  const Result got = scene.Run(3);
  for (const float x : got.out) ASSERT_EQ(x, 0);
  for (const float x : got.lse) ASSERT_TRUE(std::isnan(x));
}

}  // namespace
}  // namespace fia::testing
