// Where keys and values lie: one tensor, a list, paged caches of every form, a shared prefix, and views with
// gaps, other axis orders and stride 0.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr KvStorage kPagedForms[] = {KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz};
constexpr ViewForm kViews[] = {ViewForm::kDense, ViewForm::kGaps, ViewForm::kTransposed,
                               ViewForm::kScattered};

class PagedTest : public ::testing::TestWithParam<std::tuple<KvStorage, std::int64_t>> {
 protected:
  CallSpec Spec() const {
    CallSpec spec;
    spec.storage = std::get<0>(GetParam());
    spec.paged.block_size = std::get<1>(GetParam());
    spec.paged.table_slack = 2;
    spec.paged.extra_blocks = 3;
    return spec;
  }
};

TEST_P(PagedTest, Decode) {
  for (const char* layout : {"BSH", "BNSD", "TND", "BSND_NBSD"}) {
    CallSpec spec = Spec();
    spec.layout = layout;
    spec.query_lengths = {1, 1, 1, 1};
    spec.kv_lengths = {1, 13, 16, 261};
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(PagedTest, Prefill) {
  for (const char* layout : {"BSND", "NTD", "BNSD_BSND", "NTD_TND"}) {
    CallSpec spec = Spec();
    spec.layout = layout;
    spec.dtype = spec.kv_dtype = spec.out_dtype = DataType::kBfloat16;
    spec.query_lengths = {20, 3, 0};
    spec.kv_lengths = {129, 3, 40};
    spec.mask.mode = 3;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(PagedTest, RotaryKeysArePagedToo) {
  CallSpec spec = Spec();
  spec.layout = "TND";
  spec.num_heads = 8;
  spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = 512;
  spec.rope_dim = 64;
  spec.scale = 0.04;
  spec.value_is_key = true;
  spec.query_lengths = {1, 2};
  spec.kv_lengths = {70, 33};
  spec.mask.mode = 3;
  EXPECT_TRUE(CallMatches(spec));
}

TEST_P(PagedTest, SequencesShareTheirFirstBlocks) {
  CallSpec spec = Spec();
  spec.query_lengths = {1, 2, 2};
  spec.kv_lengths = {40, 55, 37};
  spec.common_tokens = spec.paged.shared_tokens = 32;
  EXPECT_TRUE(CallMatches(spec));
}

TEST_P(PagedTest, CachesAndTablesWithGaps) {
  for (const ViewForm form : kViews) {
    CallSpec spec = Spec();
    spec.kv_view = form;
    spec.paged.table_form = form;
    spec.query_lengths = {1, 1};
    spec.kv_lengths = {50, 23};
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST_P(PagedTest, OneLengthForAllAndMoreLengthsThanSequences) {
  for (const LengthsForm form : {LengthsForm::kOne, LengthsForm::kExtra}) {
    CallSpec spec = Spec();
    spec.kv_form = form;
    spec.query_lengths = {1, 1};
    spec.kv_lengths = {29, 29};
    EXPECT_TRUE(CallMatches(spec));
  }
}

INSTANTIATE_TEST_SUITE_P(All, PagedTest,
                         ::testing::Combine(::testing::ValuesIn(kPagedForms),
                                            ::testing::Values<std::int64_t>(1, 7, 16, 128)));

TEST(ViewTest, QueryKeyAndOutputInEveryForm) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_NBSD", "TND", "NTD", "TND_NTD"}) {
    for (const ViewForm form : kViews) {
      CallSpec spec;
      spec.layout = layout;
      spec.query_view = spec.kv_view = spec.out_view = form;
      spec.query_lengths = {1, 6};
      spec.kv_lengths = {30, 45};
      EXPECT_TRUE(CallMatches(spec)) << static_cast<int>(form);
      spec.query_lengths = {1, 1};
      EXPECT_TRUE(CallMatches(spec)) << static_cast<int>(form);
      spec.query_lengths = {40, 3};
      EXPECT_TRUE(CallMatches(spec)) << static_cast<int>(form);
    }
  }
}

TEST(ViewTest, OneCacheForEverySequenceByStrideZero) {
  for (const std::int64_t keys : {33, 65, 97}) {
    CallSpec spec;
    spec.kv_view = ViewForm::kBroadcast;
    spec.query_lengths = {1, 2, 1};
    spec.kv_lengths = {keys, keys, keys};
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(ListTest, EachSequenceHasItsOwnLength) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    for (const LengthsForm form : {LengthsForm::kAbsent, LengthsForm::kEach}) {
      CallSpec spec;
      spec.layout = layout;
      spec.storage = KvStorage::kList;
      spec.kv_form = form;
      spec.kv_slack = form == LengthsForm::kEach ? 3 : 0;
      spec.query_lengths = {1, 1, 1};
      spec.kv_lengths = {5, 270, 31};
      EXPECT_TRUE(CallMatches(spec));
      spec.query_lengths = {7, 30, 2};
      spec.mask.mode = 3;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(PrefixTest, LengthsAndLayouts) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    for (const std::int64_t length : {0, 1, 17, 256, 300}) {
      CallSpec spec;
      spec.layout = layout;
      spec.prefix.length = length;
      spec.prefix.axis_slack = 4;
      spec.prefix.give_length = true;
      spec.query_lengths = {1, 1};
      spec.kv_lengths = {0, 40};
      EXPECT_TRUE(CallMatches(spec));
      spec.query_lengths = {3, 20};
      spec.mask.mode = 3;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(PrefixTest, WholeAxisWhenNoLengthIsGiven) {
  CallSpec spec;
  spec.prefix.length = 9;
  spec.query_lengths = {2, 2};
  spec.kv_lengths = {11, 4};
  EXPECT_TRUE(CallMatches(spec));
}

TEST(PaddingTest, QueryAndKeysEndAtThePadding) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    for (const std::int64_t size : {-5, 0, 2, 40}) {
      CallSpec spec;
      spec.layout = layout;
      spec.padding.query = spec.padding.kv = true;
      spec.padding.query_size = spec.padding.kv_size = size;
      spec.query_slack = 6;
      spec.kv_slack = 9;
      spec.query_lengths = {4, 18};
      spec.kv_lengths = {25, 33};
      EXPECT_TRUE(CallMatches(spec)) << size;
      spec.mask.mode = 3;
      EXPECT_TRUE(CallMatches(spec)) << size;
    }
  }
}

TEST(PaddingTest, DecodeLooksAtTheKeysPaddingOnly) {
  CallSpec spec;
  spec.padding.query = spec.padding.kv = true;
  spec.padding.query_size = 1;
  spec.padding.kv_size = 3;
  spec.kv_slack = 5;
  spec.query_lengths = {1, 1};
  spec.kv_lengths = {8, 30};
  EXPECT_TRUE(CallMatches(spec));
}

}  // namespace
}  // namespace fia::testing
