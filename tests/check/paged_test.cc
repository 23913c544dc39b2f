// The rule paged.
#include <gtest/gtest.h>

#include <limits>

#include "check/plain_call.h"
#include "check/rows.h"

namespace fia::testing {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

Change BlockSize(std::int64_t size) {
  return [size](AttentionParams& p) { p.paged->block_size = size; };
}

TEST(Paged, AnyCacheWithAnyLayout) {
  for (const int rank : {3, 4, 5}) {
    for (const char* layout : {"BSH", "BSND", "BNSD", "BSH_BNSD", "BNSD_BSND", "TND", "NTD", "NTD_TND"}) {
      SCOPED_TRACE(layout);
      SCOPED_TRACE(rank);
      CheckRows(
          Paged({.layout = layout}, rank),  // 4 blocks of 128, table (2,2)
          {
              Refused(
                  "table's rank", [](auto& p) { p.paged->block_table = View(kWord, {4}); }, "blockTable",
                  "paged"),
              Refused("table's batch",
                      [](auto& p) {
                        p.paged->block_table = View(kWord, {3, 2});
                      },
                      "blockTable", "paged", {"query's B = 2"}),
              Accepted("a wider table",
                       [](auto& p) {
                         p.paged->block_table = View(kWord, {2, 7});
                       }),
              Refused("a narrow table",
                      [](auto& p) {
                        p.paged->block_table = View(kWord, {2, 1});
                      },
                      "blockTable", "paged", {"actualSeqLengthsKv", "256", "2 blocks"}),
              Refused("a length beyond the table",
                      [](auto& p) {
                        LengthsOf(p).key_value = {256, 257};
                      },
                      "blockTable", "paged", {"actualSeqLengthsKv", "257"}),
              Refused("the highest length",
                      [](auto& p) {
                        LengthsOf(p).key_value = {kHighest, 1};
                      },
                      "blockTable", "paged", {"actualSeqLengthsKv"}),
              Refused("blockSize 0", BlockSize(0), "blockSize", "paged"),
              Refused("blockSize negative", BlockSize(-128), "blockSize", "paged"),
              Refused("blockSize lowest", BlockSize(kLowest), "blockSize", "paged"),
              Refused("blockSize highest", BlockSize(kHighest), "blockSize", "paged", {"key"}),
              Refused("blockSize is not the cache's", BlockSize(256), "blockSize", "paged", {"key", "128"}),
              Refused("blocks of key and value differ", [](auto& p) { SetDim(&p.value[0], 0, 5); }, "value",
                      "paged", {"key"}),
              Refused("heads", [=](auto& p) { SetDim(&p.key[0], rank == 3 ? 2 : 1, rank == 3 ? 512 : 4); },
                      "key", "paged", {"numKeyValueHeads"}),
              Refused(
                  "value's rank",
                  [=](auto& p) { p.value[0] = CacheView(rank == 5 ? 4 : rank + 1, kHalf, 4, 128, 2, 128); },
                  "value", "paged"),
              Refused(
                  "key's rank",
                  [](auto& p) {
                    p.key[0] = View(kHalf, {4, 128});
                  },
                  "key", "paged"),
          });
    }
  }
  CheckRows(Paged({}, 5), {Refused(
                              "D0 is 32 bytes",
                              [](auto& p) {
                                p.key[0] = View(kHalf, {4, 2, 4, 128, 32});
                              },
                              "key", "paged")});
  CheckRows(Plain(), {Accepted("blockSize is not looked at without a table",
                               [](auto& p) { p.paged = PagedCache{.block_table = {}, .block_size = -9}; })});
}

TEST(Paged, TableOfAKnownPublicCall) {
  AttentionParams params = Paged(
      {.batch = 1, .heads = 12, .kv_heads = 12, .dim = 64, .value_dim = 64, .queries = 1, .dtype = kBfloat},
      4, 128, 32);
  const auto mask_of = [](std::int64_t columns) {
    return [columns](AttentionParams& p) { MaskOf(p).tensor = View(kBool, {1, 1, 1, columns}); };
  };
  CheckRows(params, {Accepted("mask", mask_of(4096)),
                     Refused("mask one column short", mask_of(4095), "attenMask", "mask", {"4096"})});
}

TEST(Paged, StrictBlockSizes) {
  const auto strict_only = [](const AttentionParams& params, const char* parameter) {
    const Status status = RulesSay(params, Check::kStrict);
    EXPECT_EQ(status.rule, "paged") << status.message;
    EXPECT_EQ(status.parameter, parameter) << status.message;
    CheckRelaxedRows(params, {});
  };
  for (const std::int64_t size : {16, 48, 1024}) CheckRows(Paged({}, 4, size), {});
  for (const std::int64_t size : {1, 24, 1040}) strict_only(Paged({}, 4, size), "blockSize");
  // Head dims other than 64 and 128.
  const Sizes several{.dim = 96, .value_dim = 96};
  Sizes one = several;
  one.queries = 1;
  CheckRows(Paged(several, 4, 256), {});
  strict_only(Paged(several, 4, 64), "blockSize");
  CheckRows(Paged(one, 4, 512), {});
  CheckRows(Paged(one, 4, 48), {});
  strict_only(Paged(one, 4, 528), "blockSize");
  Sizes packed = several;
  packed.layout = "TND";
  CheckRows(Paged(packed, 4, 64), {});
}

TEST(Paged, StrictHiddenSizeAndBlocks) {
  CheckRows(Paged({.heads = 255, .kv_heads = 255, .dim = 256, .value_dim = 256}, 3), {});  // Nk * D = 65280
  const Sizes wide{.heads = 256, .kv_heads = 256, .dim = 256, .value_dim = 256};
  EXPECT_EQ(RulesSay(Paged(wide, 3), Check::kStrict).rule, "paged");
  EXPECT_EQ(RulesSay(Paged(wide, 3), Check::kStrict).parameter, "key");
  CheckRelaxedRows(Paged(wide, 3), {});
  CheckRows(Paged(wide, 4), {});
  // Shared blocks: a cache may be smaller than the sum of blocks in relaxed checking only.
  CheckRows(Paged({}, 4), {Strict("3 blocks for 4",
                                  [](auto& p) {
                                    SetDim(&p.key[0], 0, 3);
                                    SetDim(&p.value[0], 0, 3);
                                  },
                                  "key", "paged", {"actualSeqLengthsKv", "3", "4"}),
                           Accepted("3 blocks for 3", [](auto& p) {
                             SetDim(&p.key[0], 0, 3);
                             SetDim(&p.value[0], 0, 3);
                             LengthsOf(p).key_value = {129, 128};
                           })});
}

TEST(Paged, KeyRopeAgreesWithTheCache) {
  const Sizes sizes{.kv_heads = 1, .dim = 512, .value_dim = 512, .queries = 1, .dtype = kBfloat};
  for (const int rank : {3, 4, 5}) {
    AttentionParams params = Paged(sizes, rank);
    params.rope = Rope{.query = View(kBfloat, {2, 4, 1, 64}), .key = CacheView(rank, kBfloat, 4, 128, 1, 64)};
    const int token = rank - 2;  // axis 1, 2, 3
    CheckRows(
        params,
        {Refused(
             "blocks", [](auto& p) { SetDim(&p.rope->key, 0, 5); }, "keyRope", "rope"),
         Refused(
             "tokens", [=](auto& p) { SetDim(&p.rope->key, token, 64); }, "keyRope", "rope"),
         Refused(
             "rank",
             [=](auto& p) { p.rope->key = CacheView(rank == 5 ? 4 : rank + 1, kBfloat, 4, 128, 1, 64); },
             "keyRope", "rope")});
  }
}

}  // namespace
}  // namespace fia::testing
