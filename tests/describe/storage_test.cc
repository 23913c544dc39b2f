// Tensor lists, paged caches, the shared prefix, left padding and int4 in both containers.
#include <gtest/gtest.h>

#include "core/arguments.h"
#include "describe/describe.h"
#include "describe/hand_call.h"

namespace fia::testing {
namespace {

TEST(ListTest, EachMemberIsAStorageOfItsOwn) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    SCOPED_TRACE(layout);
    Facts facts;
    facts.layout = layout;
    HandCall made = MakeHandCall(facts);
    const std::string input = InputLetters(layout);
    Rng rng(7);
    made.params.key.clear();
    made.params.value.clear();
    for (const std::int64_t axis : {7, 3, 9}) {
      const Letters sizes = {{'B', 1}, {'S', axis}, {'N', 2}, {'D', 8}};
      made.params.key.push_back(ViewOf(input, sizes, DataType::kFloat16));
      made.params.value.push_back(ViewOf(input, sizes, DataType::kFloat16));
      Scatter(&rng, &made.params.key.back());
      Scatter(&rng, &made.params.value.back());
    }
    made.call.tensor_list = true;
    made.call.kv_axis = 9;
    const Problem problem = Describe(made.params, made.call);
    ASSERT_EQ(problem.storage.size(), 3u);
    for (std::size_t b = 0; b < 3; ++b) {
      const Sequence& sequence = problem.sequences[b];
      EXPECT_EQ(sequence.key_axis, (std::vector<std::int64_t>{7, 3, 9}[b]));
      const auto member = static_cast<std::int64_t>(b);
      EXPECT_EQ(problem.storage[b].key.slot, AddressSlot(Argument::kKey, member, 3));
      EXPECT_EQ(problem.storage[b].value.slot, AddressSlot(Argument::kValue, member, 3));
      if (b == 2) {
        EXPECT_EQ(sequence.segment_count, 0);
        continue;
      }
      ASSERT_EQ(sequence.segment_count, 1);
      const KvSegment& segment = sequence.segments[0];
      EXPECT_EQ(segment.tensors, member);
      for (std::int64_t j = 0; j < segment.end; ++j) {
        const Letters at = {{'B', 0}, {'S', j}, {'N', 1}, {'D', 5}};
        EXPECT_EQ(BitAt(problem.storage[b].key, segment.key_offset, j, 1, 5),
                  BitAt(made.params.key[b], input, at, 8));
        EXPECT_EQ(BitAt(problem.storage[b].value, segment.value_offset, j, 1, 5),
                  BitAt(made.params.value[b], input, at, 8));
      }
    }
  }
}

// A cache form, with the letters of its axes: C and E are d / D0 and d % D0.
struct CacheCase {
  CacheForm form;
  const char* letters;
  DataType dtype;
  std::int64_t chunk;  // D0; 0: no chunks
};

class CacheTest : public ::testing::TestWithParam<std::tuple<CacheCase, const char*, bool>> {};

TEST_P(CacheTest, BlocksHoldTokensWhereTheLettersSay) {
  const auto& [cache, layout, scattered] = GetParam();
  constexpr std::int64_t kDim = 64, kValueDim = 32, kRopeDim = 64;
  Facts facts;
  facts.layout = layout;
  facts.dim = kDim;
  facts.value_dim = kValueDim;
  facts.kv_axis = 12;  // three blocks of four
  facts.kv_lengths = {9, 12, 0};
  HandCall made = MakeHandCall(facts);
  const auto sizes = [&cache = cache](std::int64_t dim) -> Letters {
    const std::int64_t chunk = cache.chunk == 0 ? dim : cache.chunk;
    return {{'K', 6}, {'O', 4}, {'N', 2}, {'D', dim}, {'C', dim / chunk}, {'E', chunk}};
  };
  const std::string letters = cache.letters;
  AttentionParams& params = made.params;
  params.key = {ViewOf(letters, sizes(kDim), cache.dtype)};
  params.value = {ViewOf(letters, sizes(kValueDim), cache.dtype)};
  params.rope = Rope{ViewOf(InputLetters(layout), {{'B', 3}, {'S', 4}, {'T', 6}, {'N', 6}, {'D', kRopeDim}},
                            DataType::kFloat16),
                     ViewOf(letters, sizes(kRopeDim), cache.dtype)};
  params.paged = PagedCache{TensorView::Contiguous(nullptr, DataType::kInt32, {3, 5}), 4};
  if (scattered) {
    Rng rng(99);
    for (TensorView* view : {&params.key[0], &params.value[0], &params.rope->key}) Scatter(&rng, view);
    params.paged->block_table.strides[0] = 20;
    params.paged->block_table.strides[1] = 3;
  }
  Call& call = made.call;
  call.cache = cache.form;
  call.kv_dtype = cache.dtype;
  call.block_size = 4;
  call.block_count = 6;
  call.rope_dim = kRopeDim;
  call.kv_starts = {0, 0, 0};
  const Problem problem = Describe(params, call);

  EXPECT_EQ(problem.block_size, 4);
  EXPECT_EQ(problem.block_count, 6);
  EXPECT_EQ(problem.block_table_slot, AddressSlot(Argument::kBlockTable, 0, 1));
  EXPECT_EQ(problem.table_row_stride, scattered ? 80 : 20);
  EXPECT_EQ(problem.table_block_stride, scattered ? 12 : 4);
  ASSERT_EQ(problem.storage.size(), 1u);
  EXPECT_TRUE(problem.storage[0].paged);
  const KvSegment& segment = problem.sequences[1].segments[0];
  EXPECT_EQ(segment.begin, 0);
  EXPECT_EQ(segment.end, 12);
  EXPECT_EQ(problem.sequences[1].key_axis, 12);
  EXPECT_EQ(problem.sequences[2].segment_count, 0);

  const auto expect_cache = [&](const RowTensor& rows, std::int64_t offset, const TensorView& view,
                                std::int64_t dim) {
    const std::int64_t chunk = sizes(dim).at('E');
    for (std::int64_t block = 0; block < 6; ++block) {
      for (std::int64_t row = 0; row < 4; ++row) {
        for (std::int64_t head = 0; head < 2; ++head) {
          for (std::int64_t d = 0; d < dim; ++d) {
            const Letters at = {{'K', block}, {'O', row},       {'N', head},
                                {'D', d},     {'C', d / chunk}, {'E', d % chunk}};
            ASSERT_EQ(BitAt(rows, offset + block * rows.block_stride, row, head, d),
                      BitAt(view, letters, at, dim))
                << "block " << block << " row " << row << " head " << head << " element " << d;
          }
        }
      }
    }
  };
  expect_cache(problem.storage[0].key, segment.key_offset, params.key[0], kDim);
  expect_cache(problem.storage[0].value, segment.value_offset, params.value[0], kValueDim);
  expect_cache(problem.storage[0].rope, segment.rope_offset, params.rope->key, kRopeDim);
  EXPECT_EQ(problem.storage[0].key.contiguous(kDim), !scattered && cache.chunk == 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, CacheTest,
    ::testing::Combine(
        ::testing::Values(CacheCase{CacheForm::kBlockTokenHidden, "KOH", DataType::kBfloat16, 0},
                          CacheCase{CacheForm::kBlockHeadTokenDim, "KNOD", DataType::kFloat16, 0},
                          CacheCase{CacheForm::kFractalNz, "KNCOE", DataType::kFloat16, 16},
                          CacheCase{CacheForm::kFractalNz, "KNCOE", DataType::kInt8, 32},
                          CacheCase{CacheForm::kFractalNz, "KNCOE", DataType::kFloat32, 8}),
        ::testing::Values("BSH", "BNSD_NBSD", "TND", "NTD"), ::testing::Bool()));

TEST(PrefixTest, ComesFirstAndSharesItsRowsWithEverySequence) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    SCOPED_TRACE(layout);
    Facts facts;
    facts.layout = layout;
    HandCall made = MakeHandCall(facts);
    const std::string input = InputLetters(layout);
    const TensorView view = ViewOf(input, {{'B', 1}, {'S', 7}, {'N', 2}, {'D', 8}}, DataType::kFloat16);
    made.params.prefix = SharedPrefix{view, view, {6}};
    made.call.has_prefix = true;
    made.call.prefix_length = 6;
    const Problem problem = Describe(made.params, made.call);
    ASSERT_EQ(problem.storage.size(), 2u);
    EXPECT_EQ(problem.storage[1].key.slot, AddressSlot(Argument::kKeySharedPrefix, 0, 1));
    EXPECT_EQ(problem.storage[1].value.slot, AddressSlot(Argument::kValueSharedPrefix, 0, 1));
    for (std::size_t b = 0; b < 3; ++b) {
      const Sequence& sequence = problem.sequences[b];
      EXPECT_EQ(sequence.key_count, 6 + facts.kv_lengths[b]);
      EXPECT_EQ(sequence.key_axis, 5);
      ASSERT_EQ(sequence.segment_count, b == 2 ? 1 : 2);
      const KvSegment& prefix = sequence.segments[0];
      EXPECT_EQ(prefix.tensors, 1);
      EXPECT_EQ(prefix.begin, 0);
      EXPECT_EQ(prefix.end, 6);
      EXPECT_EQ(BitAt(problem.storage[1].key, prefix.key_offset, 5, 1, 3),
                BitAt(view, input, {{'B', 0}, {'S', 5}, {'N', 1}, {'D', 3}}, 8));
      if (b == 2) continue;
      const KvSegment& own = sequence.segments[1];
      EXPECT_EQ(own.tensors, 0);
      EXPECT_EQ(own.begin, 6);
      EXPECT_EQ(own.end, 6 + facts.kv_lengths[b]);
      const Letters at = {{'B', static_cast<std::int64_t>(b)}, {'S', 2}, {'N', 1}, {'D', 3}};
      EXPECT_EQ(BitAt(problem.storage[0].key, own.key_offset, 2, 1, 3),
                BitAt(made.params.key[0], input, at, 8));
    }
  }
}

TEST(PrefixTest, OfLengthZeroIsNoSegment) {
  HandCall made = MakeHandCall({});
  const TensorView view = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 7, 2, 8});
  made.params.prefix = SharedPrefix{view, view, {0}};
  made.call.has_prefix = true;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.sequences[0].segment_count, 1);
  EXPECT_EQ(problem.sequences[0].segments[0].tensors, 0);
  EXPECT_EQ(problem.sequences[2].segment_count, 0);
}

TEST(LeftPaddingTest, KeepsOffsetsAtRowZeroAndNamesTheSizes) {
  Facts facts;
  facts.kv_axis = 8;
  facts.kv_lengths = {3, 8, 0};
  HandCall made = MakeHandCall(facts);
  const TensorView size = TensorView::Contiguous(nullptr, DataType::kInt64, {1});
  made.params.padding = LeftPadding{size, size};
  Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.query_padding_slot, kNoSlot);
  EXPECT_EQ(problem.kv_padding_slot, kNoSlot);
  made.call.query_left_padded = true;
  made.call.kv_left_padded = true;
  problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.query_padding_slot, AddressSlot(Argument::kQueryPaddingSize, 0, 1));
  EXPECT_EQ(problem.kv_padding_slot, AddressSlot(Argument::kKvPaddingSize, 0, 1));
  EXPECT_EQ(problem.sequences[1].key_axis, 8);
  EXPECT_EQ(problem.sequences[1].query_axis, 4);
  EXPECT_EQ(problem.sequences[1].segments[0].key_offset, 8 * 2 * 8 * 2);
}

// int4 elements: a view of nibbles, and words of eight that hold the same bits.
class Int4Test : public ::testing::TestWithParam<const char*> {};

TEST_P(Int4Test, LiesTheSameInNibblesAndWords) {
  const std::string input = InputLetters(GetParam());
  Facts facts;
  facts.layout = GetParam();
  facts.dim = facts.value_dim = 16;
  HandCall made = MakeHandCall(facts);
  made.call.kv_dtype = DataType::kInt4;
  const Letters nibbles = {{'B', 3}, {'S', 5}, {'N', 2}, {'D', 16}};
  Letters words = nibbles;
  words['D'] = 2;
  const TensorView view = ViewOf(input, nibbles, DataType::kInt4);
  made.params.key = made.params.value = {view};
  const Problem plain = Describe(made.params, made.call);
  made.params.key = made.params.value = {ViewOf(input, words, DataType::kInt32)};
  made.call.int4_in_int32 = true;
  const Problem packed = Describe(made.params, made.call);
  for (const Problem* problem : {&plain, &packed}) {
    const KvTensors& storage = problem->storage[0];
    EXPECT_EQ(storage.key.dtype, DataType::kInt4);
    EXPECT_TRUE(storage.key.contiguous(16));
    for (std::int64_t b = 0; b < 2; ++b) {
      const KvSegment& segment = problem->sequences[static_cast<std::size_t>(b)].segments[0];
      for (std::int64_t j = 0; j < segment.end; ++j) {
        for (std::int64_t d = 0; d < 16; ++d) {
          const Letters at = {{'B', b}, {'S', j}, {'N', 1}, {'D', d}};
          EXPECT_EQ(BitAt(storage.key, segment.key_offset, j, 1, d), BitAt(view, input, at, 16));
          EXPECT_EQ(BitAt(storage.value, segment.value_offset, j, 1, d), BitAt(view, input, at, 16));
        }
      }
    }
  }
}

TEST_P(Int4Test, StridedViewsKeepTheirStrides) {
  const std::string input = InputLetters(GetParam());
  Facts facts;
  facts.layout = GetParam();
  facts.dim = facts.value_dim = 16;
  HandCall made = MakeHandCall(facts);
  made.call.kv_dtype = DataType::kInt4;
  Rng rng(4);
  TensorView nibbles = ViewOf(input, {{'B', 3}, {'S', 5}, {'N', 2}, {'D', 16}}, DataType::kInt4);
  TensorView words = ViewOf(input, {{'B', 3}, {'S', 5}, {'N', 2}, {'D', 2}}, DataType::kInt32);
  Scatter(&rng, &nibbles);
  Scatter(&rng, &words);
  made.params.key = {nibbles};
  made.params.value = {words};
  const Problem problem = Describe(made.params, made.call);
  const KvSegment& segment = problem.sequences[1].segments[0];
  EXPECT_FALSE(problem.storage[0].value.contiguous(16));
  for (std::int64_t j = 0; j < segment.end; ++j) {
    for (std::int64_t d = 0; d < 16; ++d) {
      const Letters at = {{'B', 1}, {'S', j}, {'N', 1}, {'D', d}};
      EXPECT_EQ(BitAt(problem.storage[0].key, segment.key_offset, j, 1, d), BitAt(nibbles, input, at, 16));
      EXPECT_EQ(BitAt(problem.storage[0].value, segment.value_offset, j, 1, d),
                BitAt(words, input, at, 16, true));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Int4Test, ::testing::Values("BSH", "BSND", "BNSD", "BNSD_BSND"));

}  // namespace
}  // namespace fia::testing
