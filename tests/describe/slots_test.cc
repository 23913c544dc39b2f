// Which addresses phase two needs.
#include <gtest/gtest.h>

#include <set>

#include "core/arguments.h"
#include "describe/describe.h"
#include "describe/hand_call.h"

namespace fia::testing {
namespace {

std::multiset<std::int32_t> UsedBy(const HandCall& made) {
  const Problem problem = Describe(made.params, made.call);
  return {problem.used_slots.begin(), problem.used_slots.end()};
}

std::multiset<std::int32_t> Slots(std::initializer_list<Argument> arguments) {
  std::multiset<std::int32_t> slots;
  for (const Argument argument : arguments) slots.insert(AddressSlot(argument, 0, 1));
  return slots;
}

HandCall MakeLengths(std::vector<std::int64_t> query, std::vector<std::int64_t> kv) {
  Facts facts;
  facts.query_lengths = std::move(query);
  facts.kv_lengths = std::move(kv);
  return MakeHandCall(facts);
}

TEST(UsedSlotsTest, PlainCall) {
  const HandCall made = MakeLengths({4, 4, 4}, {5, 5, 5});
  EXPECT_EQ(UsedBy(made),
            Slots({Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut}));
}

TEST(UsedSlotsTest, NoKeysOrNoQueriesNeedTheOutputsOnly) {
  HandCall made = MakeLengths({4, 4, 0}, {0, 0, 5});
  made.params.softmax_lse = TensorView::Contiguous(nullptr, DataType::kFloat32, {3, 6, 4, 1});
  made.params.scores.learnable_sink = TensorView::Contiguous(nullptr, DataType::kFloat16, {6});
  made.params.paged = PagedCache{TensorView::Contiguous(nullptr, DataType::kInt32, {3, 2}), 4};
  made.params.key = made.params.value = {TensorView::Contiguous(nullptr, DataType::kFloat16, {6, 4, 16})};
  made.call.cache = CacheForm::kBlockTokenHidden;
  EXPECT_EQ(UsedBy(made), Slots({Argument::kAttentionOut, Argument::kSoftmaxLse}));
  made.call.query_lengths = {4, 4, 1};
  EXPECT_EQ(UsedBy(made),
            Slots({Argument::kAttentionOut, Argument::kSoftmaxLse, Argument::kQuery, Argument::kKey,
                   Argument::kValue, Argument::kLearnableSink, Argument::kBlockTable}));
}

TEST(UsedSlotsTest, ListMembersThatNobodyAttendsAreLeftOut) {
  HandCall made = MakeLengths({4, 0, 4}, {5, 5, 0});
  const TensorView member = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 5, 2, 8});
  made.params.key = made.params.value = {member, member, member};
  made.call.tensor_list = true;
  EXPECT_EQ(UsedBy(made),
            Slots({Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut}));
  made.call.query_lengths = {4, 1, 4};
  std::multiset<std::int32_t> expected =
      Slots({Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut});
  expected.insert({AddressSlot(Argument::kKey, 1, 3), AddressSlot(Argument::kValue, 1, 3)});
  EXPECT_EQ(UsedBy(made), expected);
}

TEST(UsedSlotsTest, PrefixServesSequencesWithoutKeysOfTheirOwn) {
  HandCall made = MakeLengths({4, 4, 4}, {0, 0, 0});
  const TensorView view = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 7, 2, 8});
  made.params.prefix = SharedPrefix{view, view, {}};
  made.call.has_prefix = true;
  made.call.prefix_length = 7;
  EXPECT_EQ(UsedBy(made), Slots({Argument::kQuery, Argument::kKeySharedPrefix, Argument::kValueSharedPrefix,
                                 Argument::kAttentionOut}));
}

TEST(UsedSlotsTest, MasksBiasesAndPaddingSizes) {
  HandCall made = MakeLengths({4, 4, 4}, {5, 5, 5});
  made.params.mask = Mask{TensorView::Contiguous(nullptr, DataType::kBool, {2048, 2048}), 3};
  made.params.scores.pse_shift = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 6, 4, 5});
  const TensorView size = TensorView::Contiguous(nullptr, DataType::kInt64, {1});
  made.params.padding = LeftPadding{size, size};
  made.call.sparse_mode = 3;
  made.call.has_bias = true;
  made.call.kv_left_padded = true;
  std::multiset<std::int32_t> expected =
      Slots({Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut, Argument::kPseShift,
             Argument::kKvPaddingSize});
  EXPECT_EQ(UsedBy(made), expected);
  made.params.mask = Mask{TensorView::Contiguous(nullptr, DataType::kBool, {4, 5}), 1};
  made.call.sparse_mode = 1;
  made.call.has_mask = true;
  expected.insert(AddressSlot(Argument::kAttenMask, 0, 1));
  EXPECT_EQ(UsedBy(made), expected);
}

TEST(UsedSlotsTest, CombinedScalesCountOnce) {
  HandCall made = MakeLengths({1, 1, 1}, {5, 5, 5});
  KvAntiquant kv;
  kv.scale = kv.offset = TensorView::Contiguous(nullptr, DataType::kFloat16, {2});
  made.params.quantisation = Quantisation{};
  made.params.quantisation->kv_antiquant = kv;
  made.call.flow = Flow::kAntiquant;
  made.call.antiquant = AntiquantSource::kCombined;
  EXPECT_EQ(UsedBy(made), Slots({Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut,
                                 Argument::kAntiquantScale, Argument::kAntiquantOffset}));
}

TEST(UsedSlotsTest, OutputOffsetOfADecodeCallWithoutKeys) {
  HandCall made = MakeLengths({1, 1, 1}, {0, 0, 0});
  const TensorView one = TensorView::Contiguous(nullptr, DataType::kFloat32, {1});
  made.params.quantisation = Quantisation{};
  made.params.quantisation->int8_output = Int8Output{one, one};
  EXPECT_EQ(UsedBy(made), Slots({Argument::kAttentionOut}));
  made.call.decode = true;
  EXPECT_EQ(UsedBy(made), Slots({Argument::kAttentionOut, Argument::kQuantOffset2}));
}

TEST(FillTest, HoldsTheOutputsAlone) {
  HandCall made;
  made.params.attention_out = TensorView::Contiguous(&made, DataType::kFloat16, {3, 4, 6, 8});
  made.params.attention_out.strides[0] = 500;
  made.params.softmax_lse = TensorView::Contiguous(&made, DataType::kFloat32, {3, 6, 4, 1});
  made.call.fill_only = true;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_TRUE(problem.fill_only);
  EXPECT_TRUE(problem.sequences.empty());
  EXPECT_EQ(problem.fill_out.rank, 4);
  EXPECT_EQ(problem.fill_out.strides[0], 500);
  EXPECT_EQ(problem.fill_out.data, nullptr);
  EXPECT_EQ(problem.fill_lse.dims[1], 6);
  EXPECT_EQ(problem.fill_lse.data, nullptr);
  EXPECT_EQ(UsedBy(made), Slots({Argument::kAttentionOut, Argument::kSoftmaxLse}));
}

TEST(FillTest, EmptyOutputsNeedNoAddress) {
  HandCall made;
  made.params.attention_out = TensorView::Contiguous(nullptr, DataType::kFloat16, {3, 0, 6, 8});
  made.call.fill_only = true;
  EXPECT_FALSE(Describe(made.params, made.call).fill_lse.present());
  EXPECT_TRUE(UsedBy(made).empty());
  made.params.softmax_lse = TensorView::Contiguous(nullptr, DataType::kFloat32, {3, 6, 0, 1});
  EXPECT_TRUE(UsedBy(made).empty());
  made.params.softmax_lse = TensorView::Contiguous(nullptr, DataType::kFloat32, {3, 6, 2, 1});
  EXPECT_EQ(UsedBy(made), Slots({Argument::kSoftmaxLse}));
}

}  // namespace
}  // namespace fia::testing
