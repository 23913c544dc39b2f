// Masks: every mode and every shape a full mask can have, with fewer, equal and more keys than rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/call_check.h"

namespace fia::testing {
namespace {

struct Lengths {
  std::int64_t rows;
  std::int64_t keys;
};

// Decode, several tokens, tile borders, primes, more rows than keys.
constexpr Lengths kLengths[] = {{1, 1},   {1, 300}, {2, 257},  {4, 2},    {7, 7},     {17, 5},
                                {16, 64}, {31, 97}, {64, 256}, {65, 257}, {130, 129}, {40, 530}};

constexpr DataType kMaskTypes[] = {DataType::kBool, DataType::kInt8, DataType::kUint8};

class BandTest : public ::testing::TestWithParam<Lengths> {
 protected:
  CallSpec Spec() const {
    CallSpec spec;
    spec.layout = "BNSD_BSND";  // one row follows the general rules
    spec.query_lengths = {GetParam().rows, (GetParam().rows + 1) / 2};
    spec.kv_lengths = {GetParam().keys, (GetParam().keys + 2) / 3};
    return spec;
  }
};

TEST_P(BandTest, CausalFromTheTopLeftAndTheBottomRight) {
  for (const std::int64_t mode : {2, 3}) {
    for (const int rank : {2, 3, 4}) {
      CallSpec spec = Spec();
      spec.mask.mode = mode;
      spec.mask.rank = rank;
      spec.mask.dtype = kMaskTypes[rank - 2];
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST_P(BandTest, BandsOfEveryKind) {
  constexpr std::int64_t kFar = 2147483647;
  constexpr std::int64_t kBands[][2] = {
      {0, 0},    {4, 0},  {0, 3},  {10, 5},   {kFar, 0},
      {0, kFar}, {-2, 6}, {7, -3}, {100, 50}, {std::int64_t{1} << 40, kFar}};
  for (const auto& band : kBands) {
    CallSpec spec = Spec();
    spec.mask.mode = 4;
    spec.mask.pre_tokens = band[0];
    spec.mask.next_tokens = band[1];
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(BandTest, TokensJoinAFullMaskInMode0Only) {
  for (const std::int64_t mode : {0, 1}) {
    CallSpec spec = Spec();
    spec.mask.mode = mode;
    spec.mask.given = true;
    spec.mask.density = 0.2;
    spec.mask.pre_tokens = 3;
    spec.mask.next_tokens = 6;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(BandTest, FullMasksOfEveryShape) {
  for (const int rank : {2, 3, 4}) {
    for (const bool shared : {true, false}) {
      for (const ViewForm form : {ViewForm::kDense, ViewForm::kGaps, ViewForm::kScattered}) {
        CallSpec spec = Spec();
        spec.mask.given = true;
        spec.mask.rank = rank;
        const bool one_row = GetParam().rows == 1;
        spec.mask.batch_shared = rank == 2 ? !one_row : shared;
        spec.mask.row_slack = one_row ? 0 : 3;
        spec.mask.column_slack = 5;
        spec.mask.form = form;
        spec.mask.dtype = kMaskTypes[rank - 2];
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST_P(BandTest, DensitiesFromNoneToAll) {
  for (const double density : {0.0, 0.02, 0.9, 1.0}) {
    CallSpec spec = Spec();
    spec.mask.given = true;
    spec.mask.density = density;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(BandTest, PackedSequencesTakeFullMasksByRowAndKey) {
  for (const bool shared : {true, false}) {
    CallSpec spec = Spec();
    spec.layout = "TND";
    spec.mask.given = true;
    spec.mask.mode = shared ? 1 : 0;
    spec.mask.batch_shared = shared;
    spec.mask.rank = shared ? 3 : 4;
    spec.mask.column_slack = 2;
    EXPECT_TRUE(CallMatches(spec));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BandTest, ::testing::ValuesIn(kLengths));

TEST(MaskTest, DecodeTakesAPlainFullMaskWhateverTheMode) {
  for (const std::int64_t mode : {0, 1, 2, 3, 4}) {
    CallSpec spec;
    spec.query_lengths = {1, 1, 1};
    spec.kv_lengths = {40, 3, 280};
    spec.mask.mode = mode;
    spec.mask.given = true;
    spec.mask.pre_tokens = -5;
    spec.mask.next_tokens = 2;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(MaskTest, PaddedMasksFollowThePaddedPositions) {
  for (const bool shared : {true, false}) {
    CallSpec spec;
    spec.query_lengths = {5, 12};
    spec.kv_lengths = {40, 29};
    spec.query_slack = 3;
    spec.kv_slack = 8;
    spec.padding.query = spec.padding.kv = true;
    spec.padding.query_size = 2;
    spec.padding.kv_size = 5;
    spec.mask.given = true;
    spec.mask.batch_shared = shared;
    spec.mask.pre_tokens = 1;  // not looked at: padding is on
    spec.mask.next_tokens = 1;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(MaskTest, ColumnsCountFromTheFirstPrefixToken) {
  CallSpec spec;
  spec.query_lengths = {6, 2};
  spec.kv_lengths = {20, 11};
  spec.prefix.length = 7;
  spec.mask.given = true;
  EXPECT_TRUE(CallMatches(spec));
  spec.query_lengths = {1, 1};
  EXPECT_TRUE(CallMatches(spec));
}

TEST(MaskTest, PagedMasksReachTheEndOfTheLastBlock) {
  for (const std::int64_t rows : {1, 9}) {
    CallSpec spec;
    spec.storage = KvStorage::kPagedBnNBsD;
    spec.paged.table_slack = 3;
    spec.query_lengths = {rows, rows};
    spec.kv_lengths = {37, 90};
    spec.mask.given = true;
    EXPECT_TRUE(CallMatches(spec));
  }
}

}  // namespace
}  // namespace fia::testing
