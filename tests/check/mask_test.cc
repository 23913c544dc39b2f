// The rule mask.
#include <gtest/gtest.h>

#include <limits>

#include "check/check.h"
#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

Change Masked(std::initializer_list<std::int64_t> dims, std::int64_t mode = 0) {
  const TensorView view = View(kBool, dims);
  return [view, mode](AttentionParams& p) {
    MaskOf(p).tensor = view;
    p.mask->sparse_mode = mode;
  };
}

Change Mode(std::int64_t mode, std::int64_t pre = 2147483647, std::int64_t next = 2147483647) {
  return [=](AttentionParams& p) {
    p.mask = Mask{.tensor = View(DataType::kUint8, {2048, 2048}),
                  .sparse_mode = mode,
                  .pre_tokens = pre,
                  .next_tokens = next};
  };
}

Row MaskRefused(const char* name, Change change) {
  return Refused(name, std::move(change), "attenMask", "mask", {"got shape"});
}

TEST(Mask, FullForSeveralPositions) {
  CheckRows(Plain({.batch = 3}),  // Q_S 4, KV_S 16
            {
                Accepted("2 axes", Masked({4, 16})),
                Accepted("3 axes", Masked({1, 4, 16}, 1)),
                Accepted("3 axes with batch", Masked({3, 4, 16})),
                Accepted("4 axes", Masked({1, 1, 4, 16})),
                Accepted("4 axes with batch", Masked({3, 1, 4, 16}, 1)),
                Accepted("larger", Masked({3, 1, 9, 21})),
                MaskRefused("rows", Masked({3, 16})),
                MaskRefused("columns", Masked({4, 15})),
                MaskRefused("rows of 4 axes", Masked({3, 1, 3, 16})),
                MaskRefused("columns of 4 axes", Masked({1, 1, 4, 15}, 1)),
                MaskRefused("batch", Masked({2, 4, 16})),
                MaskRefused("batch of 4 axes", Masked({2, 1, 4, 16})),
                MaskRefused("heads", Masked({3, 4, 4, 16})),
                MaskRefused("1 axis", Masked({16})),
                MaskRefused("no axis", Masked({})),
                MaskRefused("5 axes", Masked({1, 1, 1, 4, 16})),
            });
  for (const DataType dtype : {kBool, kByte, DataType::kUint8}) {
    CheckRows(Plain(), {Accepted("dtype", [=](auto& p) { MaskOf(p).tensor = View(dtype, {4, 16}); })});
  }
}

TEST(Mask, OfTwoAxesIsForUsualCalls) {
  for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
    CheckRows(Plain({.layout = layout}), {Accepted("2 axes", Masked({4, 16}))});
  }
  for (const char* layout : {"BSH_BNSD", "BSND_BNSD"}) {
    CheckRows(Plain({.layout = layout}),
              {Refused("2 axes", Masked({4, 16}), "attenMask", "mask", {"inputLayout"}),
               Accepted("3 axes", Masked({1, 4, 16}))});
  }
  CheckRows(Plain({.dim = 192}),
            {MaskRefused("two head dims", Masked({4, 16})), Accepted("3 axes", Masked({1, 4, 16}))});
  AttentionParams params = Plain();
  AddRope(&params, {});
  CheckRows(params, {MaskRefused("rope", Masked({4, 16})), Accepted("3 axes", Masked({1, 4, 16}))});
}

TEST(Mask, FullForOnePosition) {
  for (const char* layout : {"BNSD", "BSH", "BNSD_BSND"}) {
    SCOPED_TRACE(layout);
    CheckRows(Plain({.layout = layout, .batch = 3, .queries = 1}),
              {
                  Accepted("2 axes", Masked({3, 16})),
                  Accepted("3 axes", Masked({1, 1, 16})),
                  Accepted("3 axes with batch", Masked({3, 1, 16})),
                  Accepted("4 axes", Masked({1, 1, 1, 16})),
                  Accepted("longer", Masked({3, 1, 1, 99})),
                  MaskRefused("2 axes without batch", Masked({1, 16})),
                  MaskRefused("2 axes, too many", Masked({4, 16})),
                  MaskRefused("columns", Masked({3, 15})),
                  MaskRefused("rows", Masked({1, 2, 16})),
                  MaskRefused("rows of 4 axes", Masked({3, 1, 4, 16})),
                  MaskRefused("batch", Masked({2, 1, 16})),
                  MaskRefused("heads", Masked({3, 4, 1, 16})),
              });
  }
}

TEST(Mask, OfDecodeCallsIsPlain) {
  const AttentionParams decode = Plain({.queries = 1});
  CheckRows(decode,
            {
                Refused("causal mask", Masked({1, 2048, 2048}, 3), "attenMask", "mask", {"2048 x 2048"}),
                Refused("causal mask of 2 axes", Masked({2048, 2048}), "attenMask", "mask", {"2048 x 2048"}),
                Accepted("sparseMode 3 without mask", [](auto& p) { MaskOf(p).sparse_mode = 3; }),
                Accepted("any sparseMode",
                         [](auto& p) {
                           MaskOf(p).tensor = View(kBool, {2, 16});
                           p.mask->sparse_mode = kLowest;
                         }),
                Accepted("any tokens",
                         [](auto& p) {
                           MaskOf(p).tensor = View(kBool, {2, 16});
                           p.mask->pre_tokens = p.mask->next_tokens = -5;
                         }),
            });
  AttentionParams params = decode;
  Masked({2, 16}, 4)(params);
  Call call;
  ASSERT_TRUE(CheckCall(params, &call).ok());
  EXPECT_TRUE(call.has_mask);
  EXPECT_EQ(call.sparse_mode, 0);
}

TEST(Mask, Modes) {
  std::vector<Row> rows = {
      Refused("negative", Mode(-1), "sparseMode", "mask"),
      Refused("5", Mode(5), "sparseMode", "mask"),
      Refused("9", Mode(9), "sparseMode", "mask", {"9", "0 to 4"}),
      Refused("highest", Mode(kHighest), "sparseMode", "mask"),
      Accepted("0 without mask",
               [](auto& p) {
                 p.mask = Mask{.tensor = {}, .sparse_mode = 0, .pre_tokens = -9, .next_tokens = -9};
               }),
      MaskRefused("mode 1 takes a full mask", Masked({4, 15}, 1)),
  };
  for (const std::int64_t mode : {1, 2, 3, 4}) {
    rows.push_back(Refused("without mask", [=](auto& p) { MaskOf(p).sparse_mode = mode; }, "attenMask",
                           "mask", {"sparseMode"}));
  }
  for (const std::int64_t mode : {2, 3, 4}) {
    rows.push_back(Accepted("2 axes", Masked({2048, 2048}, mode)));
    rows.push_back(Accepted("3 axes", Masked({1, 2048, 2048}, mode)));
    rows.push_back(Accepted("4 axes", Masked({1, 1, 2048, 2048}, mode)));
    rows.push_back(MaskRefused("full", Masked({4, 16}, mode)));
    rows.push_back(MaskRefused("batch", Masked({2, 2048, 2048}, mode)));
    rows.push_back(MaskRefused("larger", Masked({2048, 2049}, mode)));
    rows.push_back(MaskRefused("1 axis", Masked({2048}, mode)));
  }
  CheckRows(Plain(), rows);
}

TEST(Mask, Tokens) {
  const auto full = [](std::int64_t pre, std::int64_t next) {
    return [=](AttentionParams& p) {
      p.mask = Mask{.tensor = View(kBool, {4, 16}), .sparse_mode = 0, .pre_tokens = pre, .next_tokens = next};
    };
  };
  CheckRows(Plain(), {
                         Accepted("an empty band is none", full(3, -3)),
                         Refused("mode 0", full(3, -4), "preTokens", "mask", {"nextTokens"}),
                         Refused("mode 0, lowest", full(kLowest, 5), "preTokens", "mask"),
                         Accepted("clamped alike", full(kLowest, kHighest)),
                         Accepted("mode 4", Mode(4, -2, 2)),
                         Refused("mode 4", Mode(4, -2, 1), "preTokens", "mask", {"nextTokens"}),
                         Refused("mode 4, lowest", Mode(4, kLowest, kLowest), "preTokens", "mask"),
                         Accepted("mode 1 has none", Masked({4, 16}, 1)),
                         Accepted("mode 2 does not look", Mode(2, -5, -5)),
                         Accepted("mode 3 does not look", Mode(3, -5, -5)),
                         Accepted("mode 0 does not look when padding is on",
                                  [=](auto& p) {
                                    full(-5, -5)(p);
                                    LengthsOf(p).key_value = {5, 5};
                                    p.padding =
                                        LeftPadding{.query_size = {}, .kv_size = View(DataType::kInt64, {1})};
                                  }),
                     });
  AttentionParams params = Plain();
  full(kHighest, kHighest)(params);
  Call call;
  ASSERT_TRUE(CheckCall(params, &call).ok());
  EXPECT_EQ(call.pre_tokens, 2147483647);
  EXPECT_EQ(call.next_tokens, 2147483647);
}

TEST(Mask, ColumnsCountPrefixAndBlocks) {
  AttentionParams params = Plain();
  AddPrefix(&params, {}, 8);
  CheckRows(params, {Accepted("prefix and keys", Masked({4, 24})), MaskRefused("short", Masked({4, 23})),
                     Accepted("the prefix's length counts", [](auto& p) {
                       Masked({4, 19})(p);
                       p.prefix->length = {3};
                     })});
  params = Paged({}, 4, 128, 3);
  LengthsOf(params).key_value = {5, 129};
  CheckRows(params, {Accepted("the longest rounded up to a block", Masked({4, 256})),
                     MaskRefused("short", Masked({4, 255}))});
  params = Plain();
  MakeList(&params, {});  // S 16, 17
  CheckRows(params, {Accepted("the largest S", Masked({4, 17})), MaskRefused("short", Masked({4, 16}))});
}

TEST(Mask, OfPackedLayouts) {
  for (const char* layout : {"TND", "NTD"}) {
    CheckRows(Plain({.layout = layout}),  // largest S1 8, largest S2 32
              {
                  Accepted("mode 3", Mode(3)),
                  Accepted("mode 4", Mode(4)),
                  Strict("mode 2", Mode(2), "sparseMode", "mask", {"inputLayout"}),
                  Strict("mode 1", Masked({1, 8, 32}, 1), "sparseMode", "mask"),
                  Strict("full", Masked({2, 8, 32}), "sparseMode", "mask", {"attenMask"}),
                  Strict("full, 4 axes", Masked({2, 1, 9, 33}), "sparseMode", "mask"),
              });
    AttentionParams params = Plain({.layout = layout});
    params.execution.check = Check::kRelaxed;
    CheckRelaxedRows(params, {
                                 MaskRefused("2 axes", Masked({8, 32})),
                                 MaskRefused("rows", Masked({2, 7, 32})),
                                 MaskRefused("columns", Masked({2, 8, 31})),
                                 MaskRefused("batch", Masked({3, 8, 32})),
                                 MaskRefused("heads", Masked({2, 4, 8, 32})),
                             });
  }
}

TEST(Mask, StrictForDim512) {
  CheckRows(Plain({.dim = 512, .value_dim = 512}),
            {
                Accepted("mode 0", Masked({4, 16})),
                Accepted("mode 3", Mode(3)),
                Accepted("mode 4", Mode(4)),
                Strict("mode 1", Masked({4, 16}, 1), "sparseMode", "mask", {"512"}),
                Strict("mode 2", Mode(2), "sparseMode", "mask", {"512"}),
            });
}

}  // namespace
}  // namespace fia::testing
