// The rules prefix and padding.
#include <gtest/gtest.h>

#include "check/check.h"
#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST(Prefix, HasTheFormOfOneSequence) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    SCOPED_TRACE(layout);
    const Sizes sizes{.layout = layout};
    AttentionParams params = Plain(sizes);
    AddPrefix(&params, sizes, 8);
    const auto length = [](Lengths lengths) { return [lengths](auto& p) { p.prefix->length = lengths; }; };
    CheckRows(
        params,
        {
            Accepted("no length, for the whole axis", length({})),
            Accepted("length 0", length({0})),
            Accepted("the axis", length({8})),
            Refused("longer than the axis", length({9}), "actualSharedPrefixLen", "lengths", {"9", "8"}),
            Refused("negative", length({-1}), "actualSharedPrefixLen", "lengths"),
            Refused("two lengths", length({1, 2}), "actualSharedPrefixLen", "lengths"),
            Refused(
                "key's batch", [](auto& p) { SetDim(&p.prefix->key, 0, 2); }, "keySharedPrefix", "prefix"),
            Refused(
                "value's batch", [](auto& p) { SetDim(&p.prefix->value, 0, 2); }, "valueSharedPrefix",
                "prefix"),
            Refused(
                "dim", [](auto& p) { SetDim(&p.prefix->key, p.prefix->key.rank - 1, 64); }, "keySharedPrefix",
                "prefix"),
            Refused(
                "rank",
                [](auto& p) {
                  p.prefix->key = View(kHalf, {8, 256});
                },
                "keySharedPrefix", "prefix"),
            Refused("S of key and value differ",
                    [=](auto& p) {
                      AttentionParams other = p;
                      AddPrefix(&other, sizes, 7);
                      p.prefix->value = other.prefix->value;
                    },
                    "valueSharedPrefix", "prefix", {"keySharedPrefix"}),
            Refused("dtype", [](auto& p) { p.prefix->key.dtype = kBfloat; }, "keySharedPrefix", "prefix",
                    {"float16"}),
            Refused(
                "dtype of value", [](auto& p) { p.prefix->value.dtype = kByte; }, "valueSharedPrefix",
                "prefix"),
            Refused("no value", [](auto& p) { p.prefix->value = {}; }, "valueSharedPrefix", "pairs",
                    {"keySharedPrefix"}),
            Refused("no key", [](auto& p) { p.prefix->key = {}; }, "keySharedPrefix", "pairs",
                    {"valueSharedPrefix"}),
            Accepted("a length without a prefix is not looked at",
                     [](auto& p) {
                       p.prefix = SharedPrefix{.key = {}, .value = {}, .length = {-4, 2}};
                     }),
        });
  }
  for (const char* layout : {"BSH_BNSD", "BSND_BNSD"}) {
    const Sizes sizes{.layout = layout};
    CheckRows(Plain(sizes), {Strict("layout", [=](auto& p) { AddPrefix(&p, sizes, 8); }, "keySharedPrefix",
                                    "prefix", {"inputLayout"})});
  }
}

TEST(Prefix, IsReadIntoTheCall) {
  AttentionParams params = Plain();
  AddPrefix(&params, {}, 8);
  Call call;
  ASSERT_TRUE(CheckCall(params, &call).ok());
  EXPECT_TRUE(call.has_prefix);
  EXPECT_EQ(call.prefix_length, 8);
  params.prefix->length = {3};
  ASSERT_TRUE(CheckCall(params, &call).ok());
  EXPECT_EQ(call.prefix_length, 3);
  AddPrefix(&params, {}, 0);
  ASSERT_TRUE(CheckCall(params, &call).ok());
  EXPECT_FALSE(call.has_prefix);
  EXPECT_EQ(call.prefix_length, 0);
}

TEST(Padding, SizesHaveOneElement) {
  AttentionParams params = Plain();
  params.lengths = SequenceLengths{.query = {3, 4}, .key_value = {5, 6}};
  params.padding =
      LeftPadding{.query_size = View(DataType::kInt64, {1}), .kv_size = View(DataType::kInt64, {1})};
  CheckRows(params,
            {
                Accepted("of any rank",
                         [](auto& p) {
                           p.padding->kv_size = View(DataType::kInt64, {1, 1});
                         }),
                Accepted("of no axis", [](auto& p) { p.padding->query_size = View(DataType::kInt64, {}); }),
                Accepted("one of them", [](auto& p) { p.padding->query_size = {}; }),
                Refused(
                    "two elements", [](auto& p) { p.padding->kv_size = View(DataType::kInt64, {2}); },
                    "kvPaddingSize", "padding"),
                Refused(
                    "two elements", [](auto& p) { p.padding->query_size = View(DataType::kInt64, {2}); },
                    "queryPaddingSize", "padding"),
                Refused(
                    "no element", [](auto& p) { p.padding->kv_size = View(DataType::kInt64, {0}); },
                    "kvPaddingSize", "empty"),
                Accepted("without lengths they are not looked at",
                         [](auto& p) {
                           p.lengths.reset();
                           p.padding->query_size = p.padding->kv_size = View(kHalf, {3, -1});
                         }),
            });
  const Sizes other{.layout = "BSND_BNSD"};
  CheckRows(Plain(other), {Strict("layout",
                                  [](auto& p) {
                                    LengthsOf(p).key_value = {5, 6};
                                    p.padding =
                                        LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
                                  },
                                  "kvPaddingSize", "padding", {"inputLayout"})});
}

TEST(Padding, IsOnWithLengthsOnly) {
  const TensorView size = View(DataType::kInt64, {1});
  const auto call_of = [](const AttentionParams& params) {
    Call call;
    EXPECT_TRUE(CheckCall(params, &call).ok());
    return call;
  };
  AttentionParams params = Plain();
  params.padding = LeftPadding{.query_size = size, .kv_size = size};
  EXPECT_FALSE(call_of(params).query_left_padded);
  EXPECT_FALSE(call_of(params).kv_left_padded);
  params.lengths = SequenceLengths{.query = {3}, .key_value = {}};
  EXPECT_TRUE(call_of(params).query_left_padded);
  EXPECT_FALSE(call_of(params).kv_left_padded);
  params.lengths = SequenceLengths{.query = {}, .key_value = {3}};
  EXPECT_FALSE(call_of(params).query_left_padded);
  EXPECT_TRUE(call_of(params).kv_left_padded);
  AttentionParams decode = Plain({.queries = 1});
  decode.padding = params.padding;
  decode.lengths = SequenceLengths{.query = {1}, .key_value = {3}};
  EXPECT_FALSE(call_of(decode).query_left_padded);
  EXPECT_TRUE(call_of(decode).kv_left_padded);
  AttentionParams packed = Plain({.layout = "TND", .queries = 1});  // two sequences of 1 and 2 tokens
  packed.padding = LeftPadding{.query_size = size, .kv_size = {}};
  EXPECT_EQ(RulesSay(packed, Check::kStrict).rule, "exclusive");
  for (TensorView* view : {&packed.query, &packed.attention_out}) SetDim(view, 0, 2);
  packed.lengths->query = {1, 2};
  EXPECT_FALSE(call_of(packed).query_left_padded);
  // One query position outside decode calls: not on either.
  AttentionParams one = Plain({.layout = "BNSD_BSND", .queries = 1});
  one.padding = params.padding;
  one.lengths = decode.lengths;
  EXPECT_FALSE(call_of(one).query_left_padded);
}

}  // namespace
}  // namespace fia::testing
