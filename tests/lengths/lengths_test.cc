// Sequences of up to 2^20 tokens: sums of a million terms, offsets and splits of the longest calls that the
// contract names.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kBudget = 4 * kMost * 32;  // four rows of all keys

// One sequence as long as any and one short one, over one kv head.
CallSpec Longest(DataType dtype) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  spec.num_heads = 2;
  spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = 16;
  spec.query_lengths = {1, 1};
  spec.kv_lengths = {kMost, 77};
  spec.threads = 2;
  return spec;
}

TEST(LengthsTest, DecodeOfEveryType) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32})
    EXPECT_TRUE(CallMatches(BuiltCall(Longest(dtype)), kBudget));
}

TEST(LengthsTest, DecodeOfEveryStorage) {
  for (const KvStorage storage :
       {KvStorage::kList, KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz}) {
    CallSpec spec = Longest(DataType::kFloat16);
    spec.kv_lengths = {kMost - 1, 77};
    spec.storage = storage;
    spec.paged.block_size = storage == KvStorage::kPagedBnNBsD ? 16 : 128;
    EXPECT_TRUE(CallMatches(BuiltCall(spec), kBudget));
  }
}

TEST(LengthsTest, DecodeOfQuantisedCaches) {
  for (const bool per_token : {false, true}) {
    CallSpec spec = Longest(DataType::kFloat16);
    spec.kv_dtype = per_token ? DataType::kInt8 : DataType::kInt4;
    spec.quant.flow = QuantFlow::kAntiquant;
    spec.quant.key_mode = spec.quant.value_mode = per_token ? 1 : 0;
    spec.quant.per_channel = !per_token;
    spec.quant.offsets = true;
    EXPECT_TRUE(CallMatches(BuiltCall(spec), kBudget));
  }
}

TEST(LengthsTest, CausalRowsAtTheEndOfTheLongest) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16}) {
    for (const std::int64_t inner_precise : {0, 1}) {
      CallSpec spec = Longest(dtype);
      spec.query_lengths = {21, 5};
      spec.mask.mode = 3;
      spec.inner_precise = inner_precise;
      EXPECT_TRUE(CallMatches(BuiltCall(spec), kBudget));
    }
  }
}

// As many queries as keys; the work is that of the band.
TEST(LengthsTest, BandsOfTheLongest) {
  for (const char* layout : {"BNSD", "TND"}) {
    CallSpec spec = Longest(DataType::kBfloat16);
    spec.layout = layout;
    spec.num_heads = 1;
    spec.query_lengths = {kMost, 77};
    spec.mask.mode = 4;
    spec.mask.pre_tokens = 40;
    spec.mask.next_tokens = 3;
    EXPECT_TRUE(CallMatches(BuiltCall(spec), 20 * kBudget));
  }
}

// Equal weights lose nothing to their number: every row is the mean of 2^20 values, its lse is log 2^20.
TEST(LengthsTest, EqualWeights) {
  for (const std::int64_t rows : {1, 20}) {
    CallSpec spec = Longest(DataType::kFloat32);
    spec.query_lengths = {rows, rows};
    spec = With(spec, [](const Site& site) -> std::optional<double> {
      if (site.part == Part::kQuery) return 0.0;
      if (site.part == Part::kValue) return site.position % 2 == 0 ? 1.0 : -0.5;
      return std::nullopt;
    });
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call, kBudget));
    for (std::int64_t row = 0; row < rows; ++row) {
      EXPECT_EQ(call.Out(0, row, 0, 0), 0.25);
      EXPECT_FLOAT_EQ(static_cast<float>(call.Lse(0, row, 0)), 13.862944f);
    }
  }
}

}  // namespace
}  // namespace fia::testing
