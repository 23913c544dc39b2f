// The tests' own tensors: a guard that never fails would hide writes outside of views.
#include "support/tensor.h"

#include <gtest/gtest.h>

#include <set>

namespace fia::testing {
namespace {

TEST(TensorTest, GuardsSeeWritesBesideTheElements) {
  for (const DataType dtype : {DataType::kInt8, DataType::kFloat16, DataType::kInt4}) {
    Tensor tensor(dtype, {3, 4}, {{1, 0}, {2, 2}, {}, 1});
    EXPECT_TRUE(tensor.GuardsIntact());
    tensor.Fill(1);
    EXPECT_TRUE(tensor.GuardsIntact());
    unsigned char* data = static_cast<unsigned char*>(tensor.view().data);
    for (const std::ptrdiff_t at : {-1, -64, 100}) {
      data[at] ^= 1;
      EXPECT_FALSE(tensor.GuardsIntact()) << at;
      data[at] ^= 1;
    }
    // The gap after the three elements of an inner run.
    const std::ptrdiff_t gap = 3 * ElementBits(dtype) / 8 + (dtype == DataType::kInt4 ? 1 : 0);
    data[gap] ^= 1;
    EXPECT_FALSE(tensor.GuardsIntact());
  }
}

TEST(TensorTest, ElementsLieWhereTheViewSays) {
  Tensor tensor(DataType::kFloat32, {2, 3, 4}, {{2, 0, 1}, {1, 0, 2}, {}, 1});
  for (std::int64_t index = 0; index < 24; ++index) tensor.Set(index, static_cast<double>(index));
  const TensorView view = tensor.view();
  const float* data = static_cast<const float*>(view.data);
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t c = 0; c < 4; ++c) {
        const float got = data[a * view.strides[0] + b * view.strides[1] + c * view.strides[2]];
        EXPECT_EQ(got, static_cast<float>(a * 12 + b * 4 + c));
        EXPECT_EQ(tensor.At({a, b, c}), got);
      }
    }
  }
  EXPECT_EQ(tensor.Restored({}).Bytes(), tensor.Bytes());
}

TEST(TensorTest, ValuesRoundAndSaturate) {
  Tensor bytes(DataType::kInt8, {4});
  bytes.FillFrom({127.4, 300, -300, 2.5});
  EXPECT_EQ(bytes.Get(0), 127);
  EXPECT_EQ(bytes.Get(1), 127);
  EXPECT_EQ(bytes.Get(2), -128);
  EXPECT_EQ(bytes.Get(3), 2);
  Tensor nibbles(DataType::kInt4, {2, 3});
  nibbles.FillFrom({1, -8, 7, 9, -9, 0});
  EXPECT_EQ(nibbles.Get(1), -8);
  EXPECT_EQ(nibbles.Get(3), 7);
  EXPECT_EQ(nibbles.Get(4), -8);
  EXPECT_EQ(nibbles.view().strides[0], 4);  // rows start at whole bytes
}

TEST(RngTest, SeedsReplayAndDiffer) {
  Rng one(1), same(1), other(2);
  std::set<std::uint64_t> seen;
  for (int draw = 0; draw < 1000; ++draw) {
    const std::uint64_t bits = one.Bits();
    EXPECT_EQ(bits, same.Bits());
    seen.insert(bits);
    seen.insert(other.Bits());
  }
  EXPECT_EQ(seen.size(), 2000u);
  double sum = 0, squares = 0;
  for (int draw = 0; draw < 100000; ++draw) {
    const double normal = one.Normal();
    sum += normal;
    squares += normal * normal;
    const std::int64_t between = one.Between(-2, 3);
    EXPECT_TRUE(between >= -2 && between <= 3);
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.02);
}

}  // namespace
}  // namespace fia::testing
