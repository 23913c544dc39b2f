// Joining states, and rounding finished rows to the output types.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "cpu/isa.h"
#include "fia/half.h"
#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

OwnedState RandomState(std::int64_t rows, std::int64_t dims, std::uint64_t seed) {
  Rng rng(seed);
  OwnedState state(rows, dims);
  for (float& max : state.row_max) max = static_cast<float>(rng.Normal() * 3);
  for (double& sum : state.row_sum) sum = rng.Uniform(1, 100);
  for (float& sum : state.offset_sum) sum = static_cast<float>(rng.Normal());
  for (float& acc : state.acc) acc = static_cast<float>(rng.Normal());
  return state;
}

bool SameBits(const OwnedState& a, const OwnedState& b) {
  return std::memcmp(a.row_max.data(), b.row_max.data(), a.row_max.size() * sizeof(float)) == 0 &&
         std::memcmp(a.row_sum.data(), b.row_sum.data(), a.row_sum.size() * sizeof(double)) == 0 &&
         std::memcmp(a.offset_sum.data(), b.offset_sum.data(), a.offset_sum.size() * sizeof(float)) == 0 &&
         std::memcmp(a.acc.data(), b.acc.data(), a.acc.size() * sizeof(float)) == 0;
}

TEST(MergeTest, EmptySidesLeaveBits) {
  constexpr std::int64_t kRows = 5, kDims = 48;
  OwnedState full = RandomState(kRows, kDims, 7);
  full.acc[3] = -0.0f;
  OwnedState empty(kRows, kDims);
  OwnedState into = full;
  ActiveKernels()->merge(into.view(), empty.view(), kRows, kDims);
  EXPECT_TRUE(SameBits(into, full));
  into = empty;
  ActiveKernels()->merge(into.view(), full.view(), kRows, kDims);
  EXPECT_TRUE(SameBits(into, full));
  into = empty;
  ActiveKernels()->merge(into.view(), empty.view(), kRows, kDims);
  EXPECT_TRUE(SameBits(into, empty));
}

TEST(MergeTest, JoinsAsDefined) {
  constexpr std::int64_t kRows = 33, kDims = 19;
  OwnedState a = RandomState(kRows, kDims, 1), b = RandomState(kRows, kDims, 2);
  b.row_max[4] = a.row_max[4];
  b.row_max[5] = a.row_max[5] - 500;
  OwnedState into = a;
  ActiveKernels()->merge(into.view(), b.view(), kRows, kDims);
  for (std::size_t row = 0; row < kRows; ++row) {
    const double max = std::max(a.row_max[row], b.row_max[row]);
    const double fa = std::exp(a.row_max[row] - max), fb = std::exp(b.row_max[row] - max);
    EXPECT_EQ(into.row_max[row], max);
    EXPECT_NEAR(into.row_sum[row], a.row_sum[row] * fa + b.row_sum[row] * fb, 1e-4);
    EXPECT_NEAR(into.offset_sum[row], a.offset_sum[row] * fa + b.offset_sum[row] * fb, 1e-5);
    for (std::size_t d = 0; d < kDims; ++d) {
      const std::size_t i = row * static_cast<std::size_t>(a.acc_stride) + d;
      EXPECT_NEAR(into.acc[i], a.acc[i] * fa + b.acc[i] * fb, 1e-5);
    }
  }
  // Equal maxima: the factors are exactly 1.
  EXPECT_EQ(into.row_sum[4], a.row_sum[4] + b.row_sum[4]);
  EXPECT_EQ(into.row_sum[5], a.row_sum[5]);
}

// Stores one row of `values` and returns its elements' bits; `stride` elements apart, the last ends the
// block.
std::vector<std::uint32_t> StoreRow(const std::vector<float>& values, DataType type, StoreArgs args = {},
                                    std::int64_t stride = 1) {
  const std::int64_t size = type == DataType::kFloat32 ? 4 : type == DataType::kInt8 ? 1 : 2;
  const auto count = static_cast<std::int64_t>(values.size());
  const auto bytes = static_cast<std::size_t>(((count - 1) * stride + 1) * size);
  const auto memory = std::make_unique<std::uint8_t[]>(bytes);
  std::memset(memory.get(), 0x5a, bytes);
  const double one = 1;
  void* rows[] = {memory.get()};
  args.rows = 1;
  args.value_dim = count;
  args.acc = values.data();
  args.acc_stride = count;
  if (args.factor == nullptr) args.factor = &one;
  args.out_rows = rows;
  args.out_type = type;
  args.out_dim_stride = stride * size;
  ActiveKernels()->store(args);
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, memory.get() + i * stride * size, static_cast<std::size_t>(size));
    bits.push_back(word);
    for (std::int64_t b = size; b < stride * size && i + 1 < count; ++b) {
      EXPECT_EQ(memory[static_cast<std::size_t>(i * stride * size + b)], 0x5a) << "a gap was written";
    }
  }
  return bits;
}

// Every 16-bit number, the points halfway to the next, and the floats beside them.
std::vector<float> Edges(bool bfloat) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto up = static_cast<std::uint16_t>(bits + 1);
    const float here = bfloat ? Bfloat16ToFloat(half) : HalfToFloat(half);
    float next = bfloat ? Bfloat16ToFloat(up) : HalfToFloat(up);
    if (std::isnan(here)) continue;
    if (std::isinf(next) && !bfloat) next = std::copysign(65536.0f, here);
    values.push_back(here);
    if (std::isinf(here) || !std::isfinite(next)) continue;
    const float middle = here + (next - here) / 2;
    for (float x : {middle, std::nextafter(middle, here), std::nextafter(middle, next)}) values.push_back(x);
  }
  for (float x : {3.4e38f, -3.4e38f, 1e-45f, -1e-45f, 65519.996f, 65520.0f, 1e30f}) values.push_back(x);
  return values;
}

TEST(StoreTest, RoundsToNearestEven) {
  for (bool bfloat : {false, true}) {
    const std::vector<float> values = Edges(bfloat);
    for (std::int64_t stride : {1, 3}) {
      const auto bits = StoreRow(values, bfloat ? DataType::kBfloat16 : DataType::kFloat16, {}, stride);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float x = values[i] + 0.0f;  // -0 is stored as 0
        ASSERT_EQ(bits[i], bfloat ? FloatToBfloat16(x) : FloatToHalf(x)) << values[i] << " bfloat " << bfloat;
      }
    }
  }
}

TEST(StoreTest, NanStaysNan) {
  std::vector<float> values;
  for (std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu}) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  for (std::uint32_t bits : StoreRow(values, DataType::kFloat16)) {
    EXPECT_TRUE(std::isnan(HalfToFloat(static_cast<std::uint16_t>(bits))));
  }
  for (std::uint32_t bits : StoreRow(values, DataType::kBfloat16)) {
    EXPECT_TRUE(std::isnan(Bfloat16ToFloat(static_cast<std::uint16_t>(bits))));
  }
}

TEST(StoreTest, Int8) {
  const std::vector<float> acc = {1.25f, 1.75f, -1.25f, 63.5f,     64.25f, 100,
                                  -100,  1e30f, -1e30f, kInfinity, 0.2f};
  const std::vector<float> twos(acc.size(), 2), offsets(acc.size(), -0.5f);
  const float* scale_rows[] = {twos.data()};
  const float* offset_rows[] = {offsets.data()};
  StoreArgs args;
  args.quant_scale = scale_rows;
  const int plain[] = {2, 4, -2, 127, 127, 127, -128, 127, -128, 127, 0};
  const int shifted[] = {2, 3, -3, 126, 127, 127, -128, 127, -128, 127, 0};
  for (std::int64_t stride : {1, 2}) {
    args.quant_offset = nullptr;
    auto bits = StoreRow(acc, DataType::kInt8, args, stride);
    for (std::size_t i = 0; i < acc.size(); ++i)
      EXPECT_EQ(static_cast<std::int8_t>(bits[i]), plain[i]) << acc[i];
    args.quant_offset = offset_rows;
    bits = StoreRow(acc, DataType::kInt8, args, stride);
    for (std::size_t i = 0; i < acc.size(); ++i)
      EXPECT_EQ(static_cast<std::int8_t>(bits[i]), shifted[i]) << acc[i];
  }
}

TEST(StoreTest, FactorsInOrder) {
  for (std::int64_t dims : {1, 3, 63, 64, 65, 130}) {
    Rng rng(static_cast<std::uint64_t>(dims));
    std::vector<float> acc, offset, scale;
    for (std::int64_t d = 0; d < dims; ++d) {
      acc.push_back(static_cast<float>(rng.Normal()));
      offset.push_back(static_cast<float>(rng.Normal()));
      scale.push_back(static_cast<float>(rng.Normal()));
    }
    const double factor = 1.0 / 3;
    const float addend = 0.7f;
    StoreArgs args;
    args.factor = &factor;
    args.addend = &addend;
    args.channel_offset = offset.data();
    args.channel_scale = scale.data();
    const auto bits = StoreRow(acc, DataType::kFloat32, args, 2);
    for (std::size_t d = 0; d < acc.size(); ++d) {
      float got;
      std::memcpy(&got, &bits[d], sizeof got);
      const double exact = (acc[d] * factor + addend + offset[d]) * scale[d];
      EXPECT_EQ(got, static_cast<float>(exact)) << d;
    }
  }
}

TEST(StoreTest, SkipsNullRows) {
  const float acc[2] = {1, 2};
  const double factor[2] = {1, 1};
  float out = 0;
  void* rows[] = {nullptr, &out};
  StoreArgs args;
  args.rows = 2;
  args.value_dim = 1;
  args.acc = acc;
  args.acc_stride = 1;
  args.factor = factor;
  args.out_rows = rows;
  args.out_type = DataType::kFloat32;
  args.out_dim_stride = 4;
  ActiveKernels()->store(args);
  EXPECT_EQ(out, 2);
}

}  // namespace
}  // namespace fia::testing
