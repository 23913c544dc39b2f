// The rules lengths, tensor_list, prefix and padding, and the lengths that an accepted call has.
#include <gtest/gtest.h>

#include <limits>

#include "check/check.h"
#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

Change Query(Lengths lengths) {
  return [lengths](AttentionParams& p) { LengthsOf(p).query = lengths; };
}

Change Kv(Lengths lengths) {
  return [lengths](AttentionParams& p) { LengthsOf(p).key_value = lengths; };
}

Call CallOf(const AttentionParams& params) {
  Call call;
  const Status status = CheckCall(params, &call);
  EXPECT_TRUE(status.ok()) << status.message;
  return call;
}

TEST(Lengths, OfPaddedLayouts) {
  CheckRows(
      Plain({.batch = 3}),  // Q_S 4, KV_S 16
      {
          Accepted("no entries", [](auto& p) { p.lengths.emplace(); }),
          Accepted("one for all", Query({3})),
          Accepted("one each", Kv({0, 16, 7})),
          Accepted("the rest is not looked at", Kv({0, 16, 7, -5, kHighest})),
          Refused("two of three", Kv({1, 2}), "actualSeqLengthsKv", "lengths", {"2", "B = 3"}),
          Refused("two of three", Query({1, 2}), "actualSeqLengths", "lengths"),
          Refused("negative", Query({4, -1, 4}), "actualSeqLengths", "lengths", {"entry 1 is -1", ">= 0"}),
          Refused("lowest", Kv({kLowest}), "actualSeqLengthsKv", "lengths"),
          Refused("longer than the axis", Query({4, 4, 5}), "actualSeqLengths", "lengths",
                  {"entry 2 is 5", "4"}),
          Refused("longer than the axis", Kv({17}), "actualSeqLengthsKv", "lengths", {"17", "16"}),
          Refused("highest", Kv({16, kHighest, 16}), "actualSeqLengthsKv", "lengths"),
      });
  CheckRows(Plain(), {Refused("-294", Kv({-294, 5}), "actualSeqLengthsKv", "lengths", {"-294", ">= 0"})});
  for (const std::size_t count : {1, 16, 20}) {
    CheckRows(Plain({.batch = 16}), {Accepted("enough entries", Kv(Lengths(count, 5)))});
  }
  CheckRows(Plain({.batch = 16}),
            {Refused("9 entries of 16", Kv(Lengths(9, 5)), "actualSeqLengthsKv", "lengths", {"9", "16"})});
}

TEST(Lengths, OfQueriesAreNotLookedAtInDecodeCalls) {
  for (const char* layout : {"BSH", "BSND", "BNSD"}) {
    CheckRows(Plain({.layout = layout, .batch = 3, .queries = 1}),
              {Accepted("cumulative", Query({1, 2, 3})), Accepted("too few", Query({1, 2})),
               Accepted("negative", Query({-1})),
               Refused("kv lengths are looked at", Kv({17}), "actualSeqLengthsKv", "lengths")});
  }
  // One query position alone does not make a decode call.
  CheckRows(Plain({.layout = "BNSD_BSND", .queries = 1}),
            {Refused("cumulative", Query({1, 2}), "actualSeqLengths", "lengths")});
  CheckRows(Plain({.dim = 192, .queries = 1}),
            {Refused("two head dims", Query({1, 2}), "actualSeqLengths", "lengths")});
  AttentionParams params = Plain({.queries = 1});
  AddRope(&params, {.queries = 1});
  CheckRows(params, {Refused("rope", Query({1, 2}), "actualSeqLengths", "lengths")});
}

TEST(Lengths, OfPackedLayouts) {
  for (const char* layout : {"TND", "NTD"}) {
    SCOPED_TRACE(layout);
    CheckRows(Plain({.layout = layout}),  // ends 4, 12 and 16, 48
              {
                  Refused("none", Query({}), "actualSeqLengths", "lengths", {layout}),
                  Refused("none", Kv({}), "actualSeqLengthsKv", "lengths", {layout}),
                  Refused(
                      "no lengths", [](auto& p) { p.lengths.reset(); }, "actualSeqLengths", "lengths"),
                  Accepted("a sequence without rows", Query({0, 12})),
                  Accepted("a sequence without keys", Kv({48, 48})),
                  Refused("decreasing", Query({13, 12}), "actualSeqLengths", "lengths"),
                  Refused("decreasing", Kv({48, 47}), "actualSeqLengthsKv", "lengths", {"entry 1"}),
                  Refused("beyond T", Query({4, 13}), "actualSeqLengths", "lengths", {"13", "12"}),
                  Refused("short of T", Query({4, 11}), "actualSeqLengths", "lengths", {"11", "12", "query"}),
                  Refused("short of T", Kv({16, 47}), "actualSeqLengthsKv", "lengths", {"47", "48", "key"}),
                  Refused("lengths in place of ends", Kv({24, 24}), "actualSeqLengthsKv", "lengths"),
                  Refused("negative", Query({-4, 12}), "actualSeqLengths", "lengths"),
                  Refused("lowest", Query({kLowest, 12}), "actualSeqLengths", "lengths"),
                  Refused("too few kv", Kv({48}), "actualSeqLengthsKv", "lengths", {"actualSeqLengths"}),
                  Refused("too many kv", Kv({16, 32, 48}), "actualSeqLengthsKv", "lengths"),
              });
  }
  CheckRows(Paged({.layout = "TND"}, 4),  // per sequence, never cumulative
            {Accepted("decreasing", Kv({256, 3})), Accepted("one for all", Kv({100})),
             Refused("none", Kv({}), "actualSeqLengthsKv", "lengths", {"blockTable"}),
             Refused("negative", Kv({256, -3}), "actualSeqLengthsKv", "lengths")});
  CheckRows(Paged({.batch = 3}, 4), {Refused("none", Kv({}), "actualSeqLengthsKv", "lengths", {"blockTable"}),
                                     Refused("too few", Kv({4, 4}), "actualSeqLengthsKv", "lengths")});
}

TEST(Lengths, AreReadIntoTheCall) {
  AttentionParams params = Plain({.layout = "TND", .batch = 3});
  params.lengths = SequenceLengths{.query = {4, 4, 24}, .key_value = {0, 90, 96}};
  const Call packed = CallOf(params);
  EXPECT_EQ(packed.batch, 3);
  EXPECT_EQ(packed.query_starts, (Lengths{0, 4, 4}));
  EXPECT_EQ(packed.query_lengths, (Lengths{4, 0, 20}));
  EXPECT_EQ(packed.kv_starts, (Lengths{0, 0, 90}));
  EXPECT_EQ(packed.kv_lengths, (Lengths{0, 90, 6}));
  EXPECT_EQ(packed.query_axis, 20);
  EXPECT_EQ(packed.kv_axis, 90);

  params = Plain({.batch = 3});
  params.lengths = SequenceLengths{.query = {2}, .key_value = {1, 2, 3, 99}};
  const Call padded = CallOf(params);
  EXPECT_EQ(padded.query_lengths, (Lengths{2, 2, 2}));
  EXPECT_EQ(padded.kv_lengths, (Lengths{1, 2, 3}));
  EXPECT_EQ(padded.query_starts, (Lengths{0, 0, 0}));
  EXPECT_EQ(padded.query_axis, 4);
  EXPECT_EQ(padded.kv_axis, 16);
  EXPECT_FALSE(padded.decode);

  params = Plain({.queries = 1});
  params.lengths = SequenceLengths{.query = {0, 77}, .key_value = {}};
  MaskOf(params).sparse_mode = 3;
  const Call decode = CallOf(params);
  EXPECT_TRUE(decode.decode);
  EXPECT_EQ(decode.query_lengths, (Lengths{1, 1}));
  EXPECT_EQ(decode.kv_lengths, (Lengths{16, 16}));
  EXPECT_EQ(decode.sparse_mode, 0);

  params = Plain();
  MakeList(&params, {});
  EXPECT_EQ(CallOf(params).kv_lengths, (Lengths{16, 17}));
  EXPECT_EQ(CallOf(params).kv_axis, 17);

  params = Paged({}, 5);
  LengthsOf(params).key_value = {5, 256};
  const Call paged = CallOf(params);
  EXPECT_EQ(paged.cache, CacheForm::kFractalNz);
  EXPECT_EQ(paged.kv_axis, 256);
  EXPECT_EQ(paged.block_count, 4);
  EXPECT_EQ(paged.kv_lengths, (Lengths{5, 256}));
}

TEST(TensorList, OneTensorForEachSequence) {
  const Sizes sizes{.batch = 3};
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    SCOPED_TRACE(layout);
    Sizes these = sizes;
    these.layout = layout;
    AttentionParams list = Plain(these);
    MakeList(&list, these);  // S 16, 17, 18
    const int head_axis = layout == std::string("BSND") || layout == std::string("BSH") ? 2 : 1;
    CheckRows(
        list,
        {
            Accepted("lengths up to each one's own S", Kv({16, 17, 18})),
            Accepted("one length", Kv({16})),
            Refused("longer than its own S", Kv({16, 18, 18}), "actualSeqLengthsKv", "lengths", {"entry 1"}),
            Refused("one longer than the shortest", Kv({17}), "actualSeqLengthsKv", "lengths"),
            Refused("too few", [](auto& p) { p.key.pop_back(), p.value.pop_back(); }, "key", "tensor_list",
                    {"2", "B = 3"}),
            Refused(
                "too many", [](auto& p) { p.key.push_back(p.key[0]), p.value.push_back(p.value[0]); }, "key",
                "tensor_list"),
            Refused("fewer values", [](auto& p) { p.value.pop_back(); }, "value", "tensor_list", {"key"}),
            Refused(
                "one value", [](auto& p) { p.value.resize(1); }, "value", "tensor_list"),
            Refused("batch of a member", [](auto& p) { SetDim(&p.key[1], 0, 2); }, "key", "tensor_list",
                    {"member 1"}),
            Refused("heads of a member", [=](auto& p) { SetDim(&p.key[2], head_axis, 1); }, "key",
                    "tensor_list", {"member 2"}),
            Refused("S of a value", [=](auto& p) { SetDim(&p.value[1], head_axis == 2 ? 1 : 2, 16); },
                    "value", "tensor_list", {"member 1"}),
            Refused(
                "rank of a member",
                [](auto& p) {
                  p.key[1] = View(kHalf, {1, 2, 3, 4, 5});
                },
                "key", "tensor_list"),
            Refused("an empty member", [=](auto& p) { SetDim(&p.key[1], head_axis == 2 ? 1 : 2, 0); }, "key",
                    "empty", {"member 1 of 3"}),
            RefusedAs(
                StatusCode::kTilingError, "dtype of a member", [](auto& p) { p.key[2].dtype = kBfloat; },
                "key", "dtype"),
        });
  }
}

TEST(TensorList, Limits) {
  AttentionParams params = Plain({.batch = 256});
  MakeList(&params, {.batch = 256});
  CheckRows(params, {});
  params = Plain({.batch = 257});
  MakeList(&params, {.batch = 257});
  EXPECT_EQ(RulesSay(params, Check::kStrict).rule, "tensor_list");
  CheckRelaxedRows(params, {});
  for (const char* layout : {"BSH_BNSD", "BSND_BNSD", "TND", "NTD"}) {
    params = Plain({.layout = layout});
    MakeList(&params, {.layout = layout});
    for (const Check level : {Check::kStrict, Check::kRelaxed}) {
      EXPECT_EQ(RulesSay(params, level).rule, "tensor_list") << layout;
      EXPECT_EQ(RulesSay(params, level).parameter, "key") << layout;
    }
  }
  // Many members are gone through once.
  params = Plain();
  params.key.assign(1 << 18, View(kHalf, {1, 2, 16, 128}));
  EXPECT_EQ(RulesSay(params, Check::kRelaxed).rule, "tensor_list");
}

}  // namespace
}  // namespace fia::testing
