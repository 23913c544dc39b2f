// What load_query computes besides packing: channel scales and the sums that key offsets need.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/isa.h"
#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

struct Loaded {
  std::vector<float> packed;
  std::vector<float> row_offset;
};

Loaded Load(const RowBlocks& query, Body body, const TileShape& shape, const float* scale,
            const float* offset) {
  Loaded result;
  result.packed.resize(static_cast<std::size_t>(ActiveKernels()->query_bytes(body, shape)) / sizeof(float) +
                       16);
  result.row_offset.resize(static_cast<std::size_t>(shape.rows));
  QueryArgs args;
  args.body = body;
  args.shape = shape;
  args.rows = shape.rows;
  args.query_rows = query.rows();
  args.query_type = query.type();
  args.query_dim_stride = query.stride_bytes();
  args.channel_scale = scale;
  args.channel_offset = offset;
  args.row_offset = result.row_offset.data();
  const auto address = reinterpret_cast<std::uintptr_t>(result.packed.data());
  args.packed = reinterpret_cast<void*>((address + 63) / 64 * 64);
  ActiveKernels()->load_query(args);
  return result;
}

TEST(QueryTest, RowOffsets) {
  for (Body body : {Body::kFewRows, Body::kManyRows}) {
    for (DataType type : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32, DataType::kInt8}) {
      for (std::int64_t dims : {1, 17, 128}) {
        const TileShape shape = {3, 16, dims, 0, dims};
        RowBlocks query(3, dims, type, 2);
        Rng rng(static_cast<std::uint64_t>(dims));
        std::vector<float> scale, offset;
        for (std::int64_t d = 0; d < dims; ++d) {
          scale.push_back(static_cast<float>(rng.Normal()));
          offset.push_back(static_cast<float>(rng.Normal() * 100));
          for (std::int64_t row = 0; row < 3; ++row) query.Set(row, d, std::nearbyint(rng.Normal() * 20));
        }
        const Loaded both = Load(query, body, shape, scale.data(), offset.data());
        const Loaded scaled = Load(query, body, shape, scale.data(), nullptr);
        const Loaded plain = Load(query, body, shape, nullptr, nullptr);
        for (std::int64_t row = 0; row < 3; ++row) {
          double with_both = 0, with_scale = 0, sum = 0;
          for (std::int64_t d = 0; d < dims; ++d) {
            const double q = query.Get(row, d);
            const auto i = static_cast<std::size_t>(d);
            with_both += q * scale[i] * offset[i];
            with_scale += q * scale[i];
            sum += q;
          }
          const auto r = static_cast<std::size_t>(row);
          EXPECT_FLOAT_EQ(both.row_offset[r], static_cast<float>(with_both));
          EXPECT_FLOAT_EQ(scaled.row_offset[r], static_cast<float>(with_scale));
          EXPECT_FLOAT_EQ(plain.row_offset[r], static_cast<float>(sum));
        }
      }
    }
  }
}

// The sizes are multiples of 64 and grow with what they depend on.
TEST(QueryTest, Sizes) {
  for (Body body : kBodies) {
    for (std::int64_t size : {1, 15, 16, 17, 100}) {
      const TileShape shape = {size, size, size, size, size};
      const TileShape larger = {size + 64, size + 64, size + 64, size + 64, size + 64};
      for (auto bytes : {ActiveKernels()->query_bytes, ActiveKernels()->scratch_bytes}) {
        EXPECT_EQ(bytes(body, shape) % 64, 0);
        EXPECT_GT(bytes(body, shape), 0);
        EXPECT_LT(bytes(body, shape), bytes(body, larger));
      }
    }
  }
}

}  // namespace
}  // namespace fia::testing
