// Every element of query, rope, key, value, output and lse in every layout, contiguous and with arbitrary
// strides, against the place that the layout's letters give it.
#include "core/layout.h"

#include <gtest/gtest.h>

#include "core/arguments.h"
#include "describe/describe.h"
#include "describe/hand_call.h"

namespace fia::testing {
namespace {

class LayoutTest : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  void SetUp() override {
    facts_.layout = std::string(kLayouts[std::get<0>(GetParam())].name);
    facts_.value_dim = 6;
    made_ = MakeHandCall(facts_);
    AddRopeAndLse();
    if (std::get<1>(GetParam())) ScatterAll();
    problem_ = Describe(made_.params, made_.call);
  }

  bool packed() const { return made_.call.layout->packed; }

  void AddRopeAndLse() {
    const std::string input = InputLetters(facts_.layout);
    Letters sizes = {{'B', 3}, {'S', 4}, {'T', 6}, {'N', 6}, {'D', 64}};
    Rope rope;
    rope.query = ViewOf(input, sizes, DataType::kBfloat16);
    sizes['D'] = 1;
    made_.params.softmax_lse = ViewOf(packed() ? "TND" : "BNSD", sizes, DataType::kFloat32);
    sizes = {{'B', 3}, {'S', 5}, {'T', 8}, {'N', 2}, {'D', 64}};
    rope.key = ViewOf(input, sizes, DataType::kBfloat16);
    made_.params.rope = rope;
    made_.call.rope_dim = 64;
  }

  void ScatterAll() {
    Rng rng(20240 + static_cast<std::uint64_t>(std::get<0>(GetParam())));
    for (TensorView* view :
         {&made_.params.query, &made_.params.key[0], &made_.params.value[0], &made_.params.attention_out,
          &*made_.params.softmax_lse, &made_.params.rope->query, &made_.params.rope->key}) {
      Scatter(&rng, view);
    }
  }

  // The indices of a position of sequence b, from the first token of the sequence if packed.
  Letters At(std::int64_t b, std::int64_t first_token, std::int64_t position) const {
    return {{'B', b}, {'S', position}, {'T', first_token + position}};
  }

  // Every (position, head, element) of one sequence, `positions` long.
  void ExpectRows(const RowTensor& rows, std::int64_t offset, const TensorView& view,
                  const std::string& letters, Letters at, std::int64_t positions, std::int64_t heads,
                  std::int64_t dim) {
    const std::int64_t first_position = at['S'], first_token = at['T'];
    for (std::int64_t i = 0; i < positions; ++i) {
      at['S'] = first_position + i;
      at['T'] = first_token + i;
      for (at['N'] = 0; at['N'] < heads; ++at['N']) {
        for (at['D'] = 0; at['D'] < dim; ++at['D']) {
          ASSERT_EQ(BitAt(rows, offset, i, at['N'], at['D']), BitAt(view, letters, at, dim))
              << letters << " position " << i << " head " << at['N'] << " element " << at['D'];
        }
      }
    }
  }

  Facts facts_;
  HandCall made_;
  Problem problem_;
};

TEST_P(LayoutTest, QueryAndOutputLieWhereTheLettersSay) {
  const std::string input = InputLetters(facts_.layout);
  std::int64_t token = 0;
  ASSERT_EQ(problem_.sequences.size(), 3u);
  for (std::int64_t b = 0; b < 3; ++b) {
    const Sequence& sequence = problem_.sequences[static_cast<std::size_t>(b)];
    const std::int64_t length = facts_.query_lengths[static_cast<std::size_t>(b)];
    EXPECT_EQ(sequence.query_count, length);
    EXPECT_EQ(sequence.query_axis, packed() ? length : 4);
    const std::int64_t positions = packed() ? length : 4;
    const Letters at = At(b, token, 0);
    ExpectRows(problem_.query, sequence.query_offset, made_.params.query, input, at, positions, 6, 8);
    ExpectRows(problem_.query_rope, sequence.query_rope_offset, made_.params.rope->query, input, at,
               positions, 6, 64);
    ExpectRows(problem_.out, sequence.out_offset, made_.params.attention_out, OutputLetters(facts_.layout),
               at, positions, 6, 6);
    ExpectRows(problem_.lse, sequence.lse_offset, *made_.params.softmax_lse, packed() ? "TND" : "BNSD", at,
               positions, 6, 1);
    token += length;
  }
}

TEST_P(LayoutTest, KeysAndValuesLieWhereTheLettersSay) {
  const std::string input = InputLetters(facts_.layout);
  ASSERT_EQ(problem_.storage.size(), 1u);
  const KvTensors& storage = problem_.storage[0];
  EXPECT_FALSE(storage.paged);
  std::int64_t token = 0;
  for (std::int64_t b = 0; b < 3; ++b) {
    const Sequence& sequence = problem_.sequences[static_cast<std::size_t>(b)];
    const std::int64_t length = facts_.kv_lengths[static_cast<std::size_t>(b)];
    EXPECT_EQ(sequence.key_count, length);
    EXPECT_EQ(sequence.key_axis, packed() ? length : 5);
    ASSERT_EQ(sequence.segment_count, length > 0 ? 1 : 0);
    if (length > 0) {
      const KvSegment& segment = sequence.segments[0];
      EXPECT_EQ(segment.tensors, 0);
      EXPECT_EQ(segment.begin, 0);
      EXPECT_EQ(segment.end, length);
      const Letters at = At(b, token, 0);
      ExpectRows(storage.key, segment.key_offset, made_.params.key[0], input, at, length, 2, 8);
      ExpectRows(storage.value, segment.value_offset, made_.params.value[0], input, at, length, 2, 6);
      ExpectRows(storage.rope, segment.rope_offset, made_.params.rope->key, input, at, length, 2, 64);
    }
    token += length;
  }
}

TEST_P(LayoutTest, RowsAreContiguousOnlyWithoutGaps) {
  const bool scattered = std::get<1>(GetParam());
  EXPECT_EQ(problem_.query.contiguous(8), !scattered);
  EXPECT_EQ(problem_.storage[0].key.contiguous(8), !scattered);
  EXPECT_EQ(problem_.storage[0].value.contiguous(6), !scattered);
  EXPECT_EQ(problem_.out.contiguous(6), !scattered);
  EXPECT_TRUE(problem_.lse.contiguous(1));
}

TEST_P(LayoutTest, SlotsAndTypesAreTheArguments) {
  EXPECT_EQ(problem_.query.slot, AddressSlot(Argument::kQuery, 0, 1));
  EXPECT_EQ(problem_.query_rope.slot, AddressSlot(Argument::kQueryRope, 0, 1));
  EXPECT_EQ(problem_.out.slot, AddressSlot(Argument::kAttentionOut, 0, 1));
  EXPECT_EQ(problem_.lse.slot, AddressSlot(Argument::kSoftmaxLse, 0, 1));
  EXPECT_EQ(problem_.storage[0].key.slot, AddressSlot(Argument::kKey, 0, 1));
  EXPECT_EQ(problem_.storage[0].value.slot, AddressSlot(Argument::kValue, 0, 1));
  EXPECT_EQ(problem_.storage[0].rope.slot, AddressSlot(Argument::kKeyRope, 0, 1));
  EXPECT_EQ(problem_.query.dtype, DataType::kFloat16);
  EXPECT_EQ(problem_.query_rope.dtype, DataType::kBfloat16);
  EXPECT_EQ(problem_.lse.dtype, DataType::kFloat32);
}

std::string LayoutName(const ::testing::TestParamInfo<std::tuple<int, bool>>& info) {
  return std::string(kLayouts[std::get<0>(info.param)].name) +
         (std::get<1>(info.param) ? "_scattered" : "_contiguous");
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest, ::testing::Combine(::testing::Range(0, 13), ::testing::Bool()),
                         LayoutName);

TEST(NumbersTest, AreTheCalls) {
  HandCall made = MakeHandCall({});
  made.params.scores.scale = 0.1;
  made.params.scores.inner_precise = 3;
  Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.num_heads, 6);
  EXPECT_EQ(problem.num_kv_heads, 2);
  EXPECT_EQ(problem.group, 3);
  EXPECT_EQ(problem.head_dim, 8);
  EXPECT_EQ(problem.value_dim, 8);
  EXPECT_EQ(problem.rope_dim, 0);
  EXPECT_EQ(problem.scale, 0.1f);
  EXPECT_TRUE(problem.narrow);
  EXPECT_FALSE(problem.query_rope.present());
  EXPECT_FALSE(problem.lse.present());
  made.params.scores.inner_precise = 2;
  EXPECT_FALSE(Describe(made.params, made.call).narrow);
}

TEST(NumbersTest, AnAxisOfOneElementHasNoStride) {
  Facts facts;
  facts.batch = 1;
  facts.query_lengths = {4};
  facts.kv_lengths = {5};
  HandCall made = MakeHandCall(facts);
  made.params.query.strides[0] = INT64_MAX;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.sequences[0].query_offset, 0);
}

}  // namespace
}  // namespace fia::testing
