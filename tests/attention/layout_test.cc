// Every layout with every element type, few and many heads, decode to prefill.
#include <gtest/gtest.h>

#include <string>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr const char* kLayouts[] = {"BSH",       "BSND",     "BNSD",      "BSH_BNSD",  "BSND_BNSD",
                                    "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND",
                                    "NTD",       "NTD_TND",  "TND_NTD"};
constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

CallSpec SpecOf(const std::string& layout, DataType dtype) {
  CallSpec spec;
  spec.layout = layout;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  return spec;
}

class LayoutTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LayoutTest, DecodeOfGroupedHeads) {
  for (const DataType dtype : kTypes) {
    CallSpec spec = SpecOf(GetParam(), dtype);
    spec.num_heads = 8;
    spec.query_lengths = {1, 1, 1};
    spec.kv_lengths = {37, 1, 300};
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(LayoutTest, SeveralTokensOfOneKvHead) {
  for (const DataType dtype : kTypes) {
    CallSpec spec = SpecOf(GetParam(), dtype);
    spec.num_heads = 6;
    spec.num_kv_heads = 1;
    spec.query_lengths = {4, 2, 3};
    spec.kv_lengths = {40, 257, 5};
    spec.mask.mode = 3;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(LayoutTest, PrefillOfOneHeadForEachKvHead) {
  for (const DataType dtype : kTypes) {
    CallSpec spec = SpecOf(GetParam(), dtype);
    spec.num_heads = spec.num_kv_heads = 3;
    spec.spell_kv_heads = false;
    spec.query_lengths = {67, 31};
    spec.kv_lengths = {67, 101};
    spec.mask.mode = 2;
    spec.sink = true;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(LayoutTest, ValueOfAnotherDim) {
  CallSpec spec = SpecOf(GetParam(), DataType::kBfloat16);
  spec.head_dim = 192;
  spec.value_dim = 128;
  spec.query_lengths = {1, 19};
  spec.kv_lengths = {64, 50};
  EXPECT_TRUE(CallMatches(spec));
}

TEST_P(LayoutTest, RotaryPartBesideTheCompressedCache) {
  CallSpec spec = SpecOf(GetParam(), DataType::kFloat16);
  spec.num_heads = 16;
  spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = 512;
  spec.rope_dim = 64;
  spec.scale = 0.05;
  spec.value_is_key = true;
  spec.query_lengths = {1, 2};
  spec.kv_lengths = {130, 61};
  spec.mask.mode = 3;
  EXPECT_TRUE(CallMatches(spec));
}

TEST_P(LayoutTest, RowsOutsideTheSequencesAreZero) {
  CallSpec spec = SpecOf(GetParam(), DataType::kFloat16);
  spec.query_lengths = {5, 0, 2};
  spec.kv_lengths = {20, 7, 0};
  spec.query_slack = 3;
  spec.kv_slack = 2;
  EXPECT_TRUE(CallMatches(spec));
}

TEST_P(LayoutTest, WithoutLse) {
  CallSpec spec = SpecOf(GetParam(), DataType::kBfloat16);
  spec.lse = false;
  spec.query_lengths = {2, 9};
  spec.kv_lengths = {33, 17};
  EXPECT_TRUE(CallMatches(spec));
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest, ::testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param); });

}  // namespace
}  // namespace fia::testing
