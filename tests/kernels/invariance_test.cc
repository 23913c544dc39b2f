// A row's bits depend on what it attends alone: not on the rows around it, nor on keys it does not attend.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "cpu/isa.h"
#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

struct Kind {
  Body body;
  KvType kv;
};

constexpr Kind kKinds[] = {{Body::kFewRows, KvType::kFloat16},   {Body::kManyRows, KvType::kFloat16},
                           {Body::kFewRows, KvType::kBfloat16},  {Body::kManyRows, KvType::kFloat32},
                           {Body::kFewRows, KvType::kInt4},      {Body::kManyRows, KvType::kInt8},
                           {Body::kBfloat16, KvType::kBfloat16}, {Body::kBfloat16Scores, KvType::kBfloat16}};

// The kinds that the kernels in use have.
std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const Kind& kind : kKinds) {
    if (HasBody(*ActiveKernels(), kind.body, kind.kv)) kinds.push_back(kind);
  }
  return kinds;
}

TileCase CaseOf(const Kind& kind) {
  TileCase spec;
  spec.body = kind.body;
  spec.kv = kind.kv;
  if (TakesBfloat16Alone(kind.body)) spec.query = DataType::kBfloat16;
  return spec;
}

// Adding 0 makes the two zeros one: their sign may depend on how many zeros were added.
void ExpectSameRow(const OwnedState& a, std::int64_t row_a, const OwnedState& b, std::int64_t row_b,
                   std::int64_t value_dim) {
  const auto ra = static_cast<std::size_t>(row_a), rb = static_cast<std::size_t>(row_b);
  EXPECT_EQ(std::memcmp(&a.row_max[ra], &b.row_max[rb], sizeof(float)), 0)
      << a.row_max[ra] << " " << b.row_max[rb];
  EXPECT_EQ(std::memcmp(&a.row_sum[ra], &b.row_sum[rb], sizeof(double)), 0)
      << a.row_sum[ra] << " " << b.row_sum[rb];
  for (std::int64_t d = 0; d < value_dim; ++d) {
    const float x = a.acc[static_cast<std::size_t>(row_a * a.acc_stride + d)] + 0.0f;
    const float y = b.acc[static_cast<std::size_t>(row_b * b.acc_stride + d)] + 0.0f;
    ASSERT_EQ(std::memcmp(&x, &y, sizeof x), 0) << "row " << row_a << " dim " << d << " " << x << " " << y;
  }
}

TEST(InvarianceTest, RowsAlone) {
  for (const Kind& kind : Kinds()) {
    TileCase spec = CaseOf(kind);
    spec.rows = kind.body == Body::kFewRows ? 13 : 47;
    spec.tiles = {300, 77};
    spec.head_dim = 150;
    spec.value_dim = 71;
    spec.rope_dim = 64;
    for (Band band : {Band::kAll, Band::kCausal, Band::kRandom}) {
      spec.band = band;
      spec.mask = band == Band::kRandom;
      spec.seed += 1;
      const TileData data(spec);
      SCOPED_TRACE(ToText(spec));
      const OwnedState all = RunTiles(*ActiveKernels(), data);
      for (std::int64_t row = 0; row < spec.rows; ++row) {
        ExpectSameRow(all, row, RunTiles(*ActiveKernels(), data, row, 1), 0, spec.value_dim);
      }
      const OwnedState part = RunTiles(*ActiveKernels(), data, 3, 9);
      for (std::int64_t row = 0; row < 9; ++row) ExpectSameRow(all, row + 3, part, row, spec.value_dim);
    }
  }
}

// `data` with more keys behind, which no row attends and which hold NaN.
TileData Extended(const TileData& data, std::int64_t more) {
  TileCase longer_spec = data.spec;
  longer_spec.tiles.back() += more;
  TileData longer(longer_spec);
  for (std::int64_t row = 0; row < data.spec.rows; ++row) {
    for (std::int64_t d = 0; d < data.spec.head_dim; ++d) longer.query.Set(row, d, data.query.Get(row, d));
    for (std::int64_t j = 0; data.spec.mask && j < data.spec.keys(); ++j)
      longer.mask.Set(row, j, data.mask.Get(row, j));
  }
  for (std::int64_t j = 0; j < longer_spec.keys(); ++j) {
    for (std::int64_t d = 0; d < data.spec.head_dim; ++d) {
      longer.key.Set(j, d,
                     j < data.spec.keys() ? data.key.Get(j, d) : std::numeric_limits<double>::quiet_NaN());
    }
    for (std::int64_t d = 0; d < data.spec.value_dim; ++d) {
      longer.value.Set(
          j, d, j < data.spec.keys() ? data.value.Get(j, d) : std::numeric_limits<double>::quiet_NaN());
    }
  }
  longer.begin = data.begin;
  longer.end = data.end;
  return longer;
}

TEST(InvarianceTest, KeysNobodyAttends) {
  for (const Kind& kind : Kinds()) {
    if (kind.kv == KvType::kInt4 || kind.kv == KvType::kInt8) continue;  // hold no NaN
    for (bool masked : {false, true}) {
      for (std::int64_t keys : {1, 30, 100, 256}) {
        TileCase spec = CaseOf(kind);
        spec.rows = 5;
        spec.tiles = {keys};
        spec.mask = masked;
        spec.band = Band::kCausal;
        const TileData data(spec);
        const OwnedState once = RunTiles(*ActiveKernels(), data);
        for (std::int64_t more : {1, 15, 33, 300}) {
          SCOPED_TRACE(ToText(spec) + " and " + std::to_string(more) + " more keys");
          const OwnedState longer = RunTiles(*ActiveKernels(), Extended(data, more));
          for (std::int64_t row = 0; row < spec.rows; ++row)
            ExpectSameRow(once, row, longer, row, spec.value_dim);
        }
      }
    }
  }
}

// A mask that masks nothing, a bias-free band that holds everything: the same bits as without.
TEST(InvarianceTest, MasksThatMaskNothing) {
  for (const Kind& kind : Kinds()) {
    TileCase spec = CaseOf(kind);
    spec.rows = 7;
    spec.tiles = {90, 41};
    const OwnedState plain = RunTiles(*ActiveKernels(), TileData(spec));
    TileCase masked_spec = spec;
    masked_spec.mask = true;
    masked_spec.band = Band::kCausal;
    TileData masked(masked_spec);
    const TileData unmasked(spec);
    for (std::int64_t row = 0; row < spec.rows; ++row) {
      for (std::int64_t j = 0; j < spec.keys(); ++j) masked.mask.Set(row, j, 0);
      masked.end[static_cast<std::size_t>(row)] = spec.keys();
    }
    SCOPED_TRACE(ToText(masked_spec));
    const OwnedState state = RunTiles(*ActiveKernels(), masked);
    for (std::int64_t row = 0; row < spec.rows; ++row) ExpectSameRow(plain, row, state, row, spec.value_dim);
  }
}

}  // namespace
}  // namespace fia::testing
