// Who attends whom: modes, tokens, mask forms, decode calls, left padding. The weights are read off one-hot
// values: out[d] is the weight of key d.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

// Equal scores and v[j] = e_j, so that row i's output is 1 / (number of attended keys) at each of them.
Scene OneHot(std::vector<std::int64_t> query_lengths, std::vector<std::int64_t> kv_lengths) {
  Scene scene;
  scene.heads = scene.kv_heads = 1;
  scene.query = [](auto, auto, auto, auto) { return 0.0; };
  scene.value = [](auto, auto, std::int64_t j, std::int64_t d) { return j == d ? 1.0 : 0.0; };
  scene.query_lengths = std::move(query_lengths);
  scene.kv_lengths = std::move(kv_lengths);
  return scene;
}

using Keys = std::set<std::int64_t>;

Keys AttendedBy(const AttentionParams& params, std::int64_t b, std::int64_t position, std::int64_t n = 0) {
  const ReferenceRow row = RowOf(params, b, n, position);
  Keys keys;
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    if (row.out[d] != 0) keys.insert(static_cast<std::int64_t>(d));
  }
  EXPECT_EQ(keys.empty(), row.empty);
  for (const std::int64_t key : keys)
    EXPECT_NEAR(row.out[static_cast<std::size_t>(key)], 1.0 / static_cast<double>(keys.size()), 1e-14);
  return keys;
}

Keys Range(std::int64_t begin, std::int64_t end) {
  Keys keys;
  for (std::int64_t key = begin; key < end; ++key) keys.insert(key);
  return keys;
}

Tensor Compressed() { return Tensor(DataType::kBool, {1, 1}); }

TEST(MaskTest, Mode2AndMode3) {
  const Scene scene = OneHot({1, 2}, {4, 6});
  const Tensor mask = Compressed();  // contents and size are not read
  PlainCall top = MakePlainCall(scene, "BNSD_BSND");
  top.params.mask = Mask{mask.view(), 2, 0, 0};
  EXPECT_EQ(AttendedBy(top.params, 0, 0), Range(0, 1));
  EXPECT_EQ(AttendedBy(top.params, 1, 1), Range(0, 2));
  PlainCall bottom = MakePlainCall(scene, "TND");
  bottom.params.mask = Mask{mask.view(), 3, 0, 0};
  EXPECT_EQ(AttendedBy(bottom.params, 0, 0), Range(0, 4));
  EXPECT_EQ(AttendedBy(bottom.params, 1, 0), Range(0, 5));
  EXPECT_EQ(AttendedBy(bottom.params, 1, 1), Range(0, 6));
}

TEST(MaskTest, Mode3WithMoreRowsThanKeysLeavesEmptyRows) {
  PlainCall call = MakePlainCall(OneHot({4}, {2}), "BSND");
  const Tensor mask = Compressed();
  call.params.mask = Mask{mask.view(), 3, 0, 0};
  ExpectEmpty(RowOf(call.params, 0, 0, 0));
  ExpectEmpty(RowOf(call.params, 0, 0, 1));
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(0, 1));
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(0, 2));
}

TEST(MaskTest, Mode4IsABand) {
  PlainCall call = MakePlainCall(OneHot({10}, {10}), "BSND");
  const Tensor mask = Compressed();
  call.params.mask = Mask{mask.view(), 4, 4, 0};
  for (std::int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(AttendedBy(call.params, 0, i), Range(std::max<std::int64_t>(0, i - 4), i + 1)) << i;
  call.params.mask = Mask{mask.view(), 4, -1, 2};
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(4, 6));
  EXPECT_EQ(AttendedBy(call.params, 0, 9), Range(0, 0));
  call.params.mask = Mask{mask.view(), 4, INT64_MAX, INT64_MAX};
  EXPECT_EQ(AttendedBy(call.params, 0, 5), Range(0, 10));
  call.params.mask = Mask{mask.view(), 4, INT64_MAX, INT64_MIN};
  EXPECT_EQ(AttendedBy(call.params, 0, 5), Range(0, 0));
  call.params.mask = Mask{mask.view(), 4, INT64_MIN, INT64_MAX};
  EXPECT_EQ(AttendedBy(call.params, 0, 5), Range(0, 0));
}

TEST(MaskTest, Mode4CountsFromTheLowerRight) {
  PlainCall call = MakePlainCall(OneHot({3}, {8}), "BSND");
  const Tensor mask = Compressed();
  call.params.mask = Mask{mask.view(), 4, 2, 1};
  EXPECT_EQ(AttendedBy(call.params, 0, 0), Range(3, 7));
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(5, 8));
}

TEST(MaskTest, Mode0LooksAtTokensOnlyWithAMask) {
  PlainCall call = MakePlainCall(OneHot({4}, {6}), "BSND");
  call.params.mask = Mask{TensorView(), 0, 1, 0};
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(0, 6));
  Tensor mask(DataType::kInt8, {4, 6});
  mask.Put({3, 2}, -5);  // any element but 0 masks
  call.params.mask = Mask{mask.view(), 0, 1, 1};
  EXPECT_EQ(AttendedBy(call.params, 0, 0), Range(0, 2));
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Keys({3, 4}));
  call.params.mask->sparse_mode = 1;  // tokens are not looked at
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Keys({0, 1, 3, 4, 5}));
  const Tensor empty(DataType::kBool, {0, 6});  // counts as absent
  call.params.mask = Mask{empty.view(), 0, 1, 1};
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(0, 6));
}

// Every form of a full mask for two sequences; the mask hides key 1 from row 2 of sequence 1 alone, or of
// both where the form has one plane.
TEST(MaskTest, FormsOfFullMasks) {
  struct Form {
    std::vector<std::int64_t> dims, hidden;
    bool both;
  };
  const Form forms[] = {{{5, 8}, {2, 1}, true},
                        {{1, 3, 6}, {0, 2, 1}, true},
                        {{2, 3, 6}, {1, 2, 1}, false},
                        {{1, 1, 4, 6}, {0, 0, 2, 1}, true},
                        {{2, 1, 3, 9}, {1, 0, 2, 1}, false}};
  PlainCall call = MakePlainCall(OneHot({3, 3}, {6, 6}), "BNSD");
  const Keys without = {0, 2, 3, 4, 5};
  for (const Form& form : forms) {
    SCOPED_TRACE(::testing::PrintToString(form.dims));
    Tensor mask(DataType::kUint8, form.dims);
    mask.Put(form.hidden, 1);
    call.params.mask = Mask{mask.view(), 1, 0, 0};
    EXPECT_EQ(AttendedBy(call.params, 1, 2), without);
    EXPECT_EQ(AttendedBy(call.params, 0, 2), form.both ? without : Range(0, 6));
    EXPECT_EQ(AttendedBy(call.params, 1, 1), Range(0, 6));
  }
}

TEST(MaskTest, FormsOfOneRowMasks) {
  const std::vector<std::int64_t> dims[] = {{2, 6}, {2, 1, 7}, {2, 1, 1, 6}, {1, 1, 6}, {1, 1, 1, 9}};
  for (const char* layout : {"BNSD", "BNSD_BSND"}) {
    PlainCall call = MakePlainCall(OneHot({1, 1}, {6, 6}), layout);
    for (const std::vector<std::int64_t>& form : dims) {
      SCOPED_TRACE(::testing::PrintToString(form));
      Tensor mask(DataType::kBool, form);
      std::vector<std::int64_t> hidden(form.size(), 0);
      hidden[0] = form[0] - 1;
      hidden.back() = 4;
      mask.Put(hidden, 1);
      call.params.mask = Mask{mask.view(), 0, 2147483647, 2147483647};
      EXPECT_EQ(AttendedBy(call.params, 1, 0), Keys({0, 1, 2, 3, 5}));
      EXPECT_EQ(AttendedBy(call.params, 0, 0), form[0] == 1 ? Keys({0, 1, 2, 3, 5}) : Range(0, 6));
    }
  }
}

TEST(MaskTest, DecodeCallsLookAtNoModeAndNoQueryLength) {
  PlainCall call = MakePlainCall(OneHot({1, 1}, {6, 6}), "BSND");
  Tensor mask(DataType::kBool, {2, 6});
  mask.Put({1, 5}, 1);
  call.params.lengths->query = {0, 7};
  for (const std::int64_t mode : {0, 1, 2, 3, 4, 77}) {
    call.params.mask = Mask{mask.view(), mode, -3, -3};
    EXPECT_EQ(AttendedBy(call.params, 1, 0), Range(0, 5)) << mode;
    EXPECT_EQ(AttendedBy(call.params, 0, 0), Range(0, 6)) << mode;
    call.params.mask = Mask{TensorView(), mode, -3, -3};
    EXPECT_EQ(AttendedBy(call.params, 1, 0), Range(0, 6)) << mode;
  }
  // One row, but no decode call: the mode counts.
  PlainCall other = MakePlainCall(OneHot({1, 1}, {6, 6}), "BNSD_BSND");
  const Tensor compressed = Compressed();
  other.params.mask = Mask{compressed.view(), 2, 0, 0};
  EXPECT_EQ(AttendedBy(other.params, 1, 0), Range(0, 1));
  Scene narrow = OneHot({1, 1}, {6, 6});
  narrow.dim = 8;
  other = MakePlainCall(narrow, "BSND");
  other.params.mask = Mask{compressed.view(), 2, 0, 0};
  EXPECT_EQ(AttendedBy(other.params, 1, 0), Range(0, 1));
  const Tensor query_rope(DataType::kFloat16, {2, 1, 1, 64});
  const Tensor key_rope(DataType::kFloat16, {2, 6, 1, 64});
  call.params.lengths->query = {1, 1};
  call.params.mask = Mask{compressed.view(), 2, 0, 0};
  call.params.rope = Rope{query_rope.view(), key_rope.view()};
  EXPECT_EQ(AttendedBy(call.params, 1, 0), Range(0, 1));
}

TEST(MaskTest, PackedFullMasksCountWithinTheSequence) {
  PlainCall call = MakePlainCall(OneHot({2, 3}, {4, 5}), "TND");
  Tensor mask(DataType::kBool, {2, 3, 5});
  mask.Put({0, 1, 0}, 1);
  mask.Put({1, 1, 4}, 1);
  call.params.mask = Mask{mask.view(), 1, 0, 0};
  EXPECT_EQ(AttendedBy(call.params, 0, 1), Range(1, 4));
  EXPECT_EQ(AttendedBy(call.params, 1, 1), Range(0, 4));
  EXPECT_EQ(AttendedBy(call.params, 1, 2), Range(0, 5));
}

// Q_S 5, S1 2, padding 1: rows 2, 3. KV_S 8, S2 3, padding 1: keys 4, 5, 6.
TEST(MaskTest, LeftPaddingMovesRowsKeysAndMaskColumns) {
  PlainCall call = MakePlainCall(OneHot({5}, {8}), "BSND");
  Tensor query_size(DataType::kInt64, {1});
  Tensor kv_size(DataType::kInt64, {1});
  query_size.Set(0, 1);
  kv_size.Set(0, 1);
  call.params.lengths = SequenceLengths{{2}, {3}};
  call.params.padding = LeftPadding{query_size.view(), kv_size.view()};
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(4, 7));
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(4, 7));
  ExpectEmpty(RowOf(call.params, 0, 0, 1));
  ExpectEmpty(RowOf(call.params, 0, 0, 4));
  Tensor mask(DataType::kBool, {5, 8});
  mask.Put({2, 4}, 1);                            // (i, j) = (0, 0)
  call.params.mask = Mask{mask.view(), 0, 0, 0};  // tokens are ignored under padding
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(5, 7));
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(4, 7));
  call.params.mask->sparse_mode = 2;  // by (i, j)
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(4, 5));
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(4, 6));
  query_size.Set(0, -9);  // counts as 0: rows 3, 4
  call.params.mask->sparse_mode = 3;
  EXPECT_EQ(AttendedBy(call.params, 0, 3), Range(4, 6));
  EXPECT_EQ(AttendedBy(call.params, 0, 4), Range(4, 7));
  kv_size.Set(0, 6);  // start 8 - 6 - 3 < 0
  for (std::int64_t position = 0; position < 5; ++position) ExpectEmpty(RowOf(call.params, 0, 0, position));
  kv_size.Set(0, 0);
  query_size.SetBits(0, 0x7fffffffffffffffu);
  for (std::int64_t position = 0; position < 5; ++position) ExpectEmpty(RowOf(call.params, 0, 0, position));
}

TEST(MaskTest, PaddingNeedsLengths) {
  PlainCall call = MakePlainCall(OneHot({2}, {3}), "BSND");
  Tensor size(DataType::kInt64, {1});
  size.Set(0, 100);
  call.params.padding = LeftPadding{size.view(), size.view()};
  call.params.lengths.reset();
  EXPECT_EQ(AttendedBy(call.params, 0, 1), Range(0, 3));
  call.params.lengths.emplace();
  EXPECT_EQ(AttendedBy(call.params, 0, 1), Range(0, 3));
}

TEST(MaskTest, PrefixCountsInModesAndMaskColumns) {
  Scene scene = OneHot({2}, {2});
  scene.value = [](auto, auto, std::int64_t j, std::int64_t d) { return j + 3 == d ? 1.0 : 0.0; };
  PlainCall call = MakePlainCall(scene, "BSND");
  Tensor prefix_key = Arrange({"BSND", DataType::kFloat16, 3, {}}, {3}, 1, 16, Stream(8));
  Tensor prefix_value = Arrange({"BSND", DataType::kFloat16, 3, {}}, {3}, 1, 16,
                                [](auto, auto, auto j, auto d) { return j == d ? 1.0 : 0.0; });
  call.params.prefix = SharedPrefix{prefix_key.view(), prefix_value.view(), {}};
  const Tensor compressed = Compressed();
  call.params.mask = Mask{compressed.view(), 3, 0, 0};
  EXPECT_EQ(AttendedBy(call.params, 0, 0), Range(0, 4));
  EXPECT_EQ(AttendedBy(call.params, 0, 1), Range(0, 5));
  Tensor mask(DataType::kBool, {2, 5});
  mask.Put({0, 1}, 1);
  mask.Put({0, 3}, 1);
  call.params.mask = Mask{mask.view(), 1, 0, 0};
  EXPECT_EQ(AttendedBy(call.params, 0, 0), Keys({0, 2, 4}));
}

TEST(MaskTest, LengthsOfPaddedLayouts) {
  PlainCall call = MakePlainCall(OneHot({3, 3}, {6, 6}), "BNSD");
  call.params.lengths = SequenceLengths{{2}, {4}};  // one for all
  EXPECT_EQ(AttendedBy(call.params, 1, 1), Range(0, 4));
  ExpectEmpty(RowOf(call.params, 1, 0, 2));
  call.params.lengths = SequenceLengths{{3, 1, 0, 0}, {2, 0, 9, 9, 9}};  // more than B: the first B
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(0, 2));
  ExpectEmpty(RowOf(call.params, 1, 0, 0));
  call.params.lengths.reset();  // the whole axes
  EXPECT_EQ(AttendedBy(call.params, 1, 2), Range(0, 6));
}

TEST(MaskTest, PackedSequencesWithoutRows) {
  PlainCall call = MakePlainCall(OneHot({3, 0, 2}, {2, 3, 4}), "TND");
  ReferenceResult result;
  ASSERT_TRUE(reference::ComputeAccepted(call.params, nullptr, &result).ok());
  EXPECT_EQ(result.rows.size(), 5u);
  EXPECT_EQ(AttendedBy(call.params, 0, 2), Range(0, 2));
  EXPECT_EQ(AttendedBy(call.params, 2, 1), Range(0, 4));
}

}  // namespace
}  // namespace fia::testing
