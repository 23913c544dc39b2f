// Sizes around every border the work is cut at: tiles of 16 to 256 rows and keys, chunks of 256 and 1024 keys.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

CallSpec SpecOf(DataType dtype) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  return spec;
}

TEST(LengthTest, KeysAroundTileBorders) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 3, 20}) {
      for (const std::int64_t keys : {1, 2, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
        CallSpec spec = SpecOf(dtype);
        spec.query_lengths = {rows};
        spec.kv_lengths = {keys};
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(LengthTest, KeysAroundChunkBorders) {
  for (const std::int64_t rows : {1, 9}) {
    for (const std::int64_t keys : {511, 513, 1023, 1024, 1025, 2047, 2049, 3079}) {
      CallSpec spec = SpecOf(DataType::kBfloat16);
      spec.query_lengths = {rows};
      spec.kv_lengths = {keys};
      spec.mask.mode = 3;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(LengthTest, RowsAroundTileBorders) {
  for (const std::int64_t rows : {4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 127, 128, 129, 257}) {
    CallSpec spec = SpecOf(DataType::kFloat16);
    spec.query_lengths = {rows};
    spec.kv_lengths = {101};
    spec.mask.mode = 3;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(LengthTest, EveryGroupSize) {
  for (const std::int64_t group : {1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 32, 64}) {
    for (const std::int64_t rows : {1, 2}) {
      CallSpec spec = SpecOf(DataType::kBfloat16);
      spec.num_heads = 2 * group;
      spec.query_lengths = {rows};
      spec.kv_lengths = {70};
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(LengthTest, EveryHeadDim) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t dim :
         {1, 2, 7, 8, 15, 16, 17, 24, 31, 32, 33, 48, 72, 80, 96, 100, 127, 128, 256, 512, 640}) {
      for (const std::int64_t rows : {1, 11}) {
        CallSpec spec = SpecOf(dtype);
        spec.head_dim = dim;
        spec.value_dim = dim;
        spec.query_lengths = {rows};
        spec.kv_lengths = {37};
        spec.scale = 0.3;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(LengthTest, ValueDimsBesideHeadDims) {
  for (const std::int64_t value_dim : {1, 5, 16, 33, 130, 300}) {
    for (const std::int64_t rows : {1, 11}) {
      CallSpec spec = SpecOf(DataType::kFloat32);
      spec.head_dim = 40;
      spec.value_dim = value_dim;
      spec.query_lengths = {rows};
      spec.kv_lengths = {37};
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(LengthTest, MoreRowsThanKeys) {
  for (const std::int64_t mode : {0, 2, 3}) {
    CallSpec spec = SpecOf(DataType::kFloat16);
    spec.query_lengths = {300, 17, 4};
    spec.kv_lengths = {7, 16, 2};
    spec.mask.mode = mode;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(LengthTest, LongPrefill) {
  for (const std::int64_t mode : {0, 3}) {
    CallSpec spec = SpecOf(DataType::kBfloat16);
    spec.num_heads = spec.num_kv_heads = 1;
    spec.query_lengths = {700};
    spec.kv_lengths = {1500};
    spec.mask.mode = mode;
    spec.threads = 2;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(LengthTest, BandsFarFromTheStart) {
  CallSpec spec = SpecOf(DataType::kFloat16);
  spec.query_lengths = {600};
  spec.kv_lengths = {2600};
  spec.mask.mode = 4;
  spec.mask.pre_tokens = 300;
  spec.mask.next_tokens = 20;
  EXPECT_TRUE(CallMatches(spec));
}

TEST(LengthTest, EmptyAndFullSequencesMixed) {
  for (const char* layout : {"BSND", "TND"}) {
    CallSpec spec = SpecOf(DataType::kFloat16);
    spec.layout = layout;
    spec.query_lengths = {0, 9, 1, 0, 30};
    spec.kv_lengths = {12, 0, 1, 0, 45};
    spec.mask.mode = 3;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(LengthTest, AbsentOneAndSurplusLengths) {
  for (const LengthsForm form :
       {LengthsForm::kAbsent, LengthsForm::kOne, LengthsForm::kEach, LengthsForm::kExtra}) {
    for (const std::int64_t rows : {1, 6}) {
      CallSpec spec = SpecOf(DataType::kFloat16);
      spec.query_form = spec.kv_form = form;
      spec.query_lengths = {rows, rows, rows};
      spec.kv_lengths = {20, 20, 20};
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

}  // namespace
}  // namespace fia::testing
