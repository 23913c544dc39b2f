// Where keys and values may lie: strides, lists, paged caches, prefix.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

void ExpectAllRows(const Scene& scene, const AttentionParams& params) {
  for (std::int64_t b = 0; b < scene.batch(); ++b) {
    const std::size_t s = static_cast<std::size_t>(b);
    for (std::int64_t n = 0; n < scene.heads; ++n) {
      for (std::int64_t i = 0; i < scene.query_lengths[s]; ++i) {
        SCOPED_TRACE(b * 100 + n * 10 + i);
        ExpectRow(RowOf(params, b, n, i), Solve(scene, b, n, i, FirstKeys(scene.kv_lengths[s])));
      }
    }
  }
}

TEST(StorageTest, StridesAreHonoured) {
  Scene scene;
  scene.heads = 4;
  scene.kv_heads = 2;
  PlainCall call = MakePlainCall(scene, "BNSD");
  call.query = call.query.Restored({{3, 1, 0, 2}, {1, 2, 3, 1}, {}, 3});
  call.key = call.key.Restored({{2, 0, 3, 1}, {}, {}, 1});
  call.value = call.value.Restored({{0, 1, 2, 3}, {5, 3, 2, 1}, {}, 0});
  call.params.query = call.query.view();
  call.params.key = {call.key.view()};
  call.params.value = {call.value.view()};
  ExpectAllRows(scene, call.params);
}

TEST(StorageTest, StrideZeroRepeatsOneSequence) {
  Scene scene;
  scene.kv_lengths = {5, 5};
  PlainCall call = MakePlainCall(scene, "BSND");
  call.key = Arrange({"BSND", DataType::kFloat16, 5, {{}, {}, {true, false, false, false}, 0}}, {5, 5}, 1, 16,
                     [&](auto, auto n, auto j, auto d) { return scene.key(7, n, j, d); });
  call.params.key = {call.key.view()};
  ASSERT_EQ(call.params.key[0].strides[0], 0);
  scene.key = [](auto, auto n, auto j, auto d) { return Stream(2)(7, n, j, d); };
  ExpectAllRows(scene, call.params);
}

TEST(StorageTest, ListMembersHaveTheirOwnLengths) {
  Scene scene;
  PlainCall call = MakePlainCall(scene, "BSH");
  std::vector<Tensor> keys, values;
  call.params.key.clear();
  call.params.value.clear();
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t length = scene.kv_lengths[static_cast<std::size_t>(b)];
    const auto of = [b](const Numbers& numbers) {
      return [b, numbers](auto, auto n, auto j, auto d) { return numbers(b, n, j, d); };
    };
    keys.push_back(Arrange({"BSH", DataType::kFloat16, length, {}}, {length}, 1, 16, of(scene.key)));
    values.push_back(Arrange({"BSH", DataType::kFloat16, length, {}}, {length}, 1, 16, of(scene.value)));
  }
  for (std::size_t b = 0; b < 2; ++b) call.params.key.push_back(keys[b].view());
  for (std::size_t b = 0; b < 2; ++b) call.params.value.push_back(values[b].view());
  call.params.lengths->key_value.clear();
  ExpectAllRows(scene, call.params);
  call.params.lengths->key_value = {3, 4};
  scene.kv_lengths = {3, 4};
  ExpectAllRows(scene, call.params);
}

// A paged cache of blocks of 2 tokens: sequence 0 in blocks 6, 1, 4 and sequence 1 in blocks 0, 5.
struct PagedCall {
  Tensor key, value, table;
  PlainCall plain;
};

std::vector<std::int64_t> CacheIndex(int rank, std::int64_t d0, std::int64_t dim, std::int64_t block,
                                     std::int64_t offset, std::int64_t n, std::int64_t d) {
  if (rank == 3) return {block, offset, n * dim + d};
  if (rank == 4) return {block, n, offset, d};
  return {block, n, d / d0, offset, d % d0};
}

Tensor MakeCache(const Scene& scene, DataType dtype, int rank, std::int64_t dim, const Numbers& numbers) {
  const std::int64_t d0 = 256 / ElementBits(dtype);
  std::vector<std::int64_t> dims = {7, 2, scene.kv_heads * dim};
  if (rank == 4) dims = {7, scene.kv_heads, 2, dim};
  if (rank == 5) dims = {7, scene.kv_heads, dim / d0, 2, d0};
  Tensor cache(dtype, dims);
  if (dtype != DataType::kInt8) cache.FillNaN();
  const std::vector<std::vector<std::int64_t>> blocks = {{6, 1, 4}, {0, 5}};
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::int64_t j = 0; j < scene.kv_lengths[b]; ++j) {
      for (std::int64_t e = 0; e < scene.kv_heads * dim; ++e) {
        const std::int64_t block = blocks[b][static_cast<std::size_t>(j / 2)];
        cache.Put(CacheIndex(rank, d0, dim, block, j % 2, e / dim, e % dim),
                  numbers(static_cast<std::int64_t>(b), e / dim, j, e % dim));
      }
    }
  }
  return cache;
}

PagedCall MakePagedCall(const Scene& scene, const std::string& layout, DataType dtype, int rank) {
  PagedCall call;
  call.plain = MakePlainCall(scene, layout);
  AttentionParams& params = call.plain.params;
  if (dtype == DataType::kFloat32) {
    call.plain.query =
        Arrange({InputForm(layout), dtype, 3, {}}, scene.query_lengths, scene.heads, scene.dim, scene.query);
    params.query = call.plain.query.view();
  }
  call.key = MakeCache(scene, dtype, rank, scene.dim, scene.key);
  call.value = MakeCache(scene, dtype, rank, scene.value_dim, scene.value);
  call.table = Tensor(DataType::kInt32, {2, 4});
  call.table.FillFrom({6, 1, 4, -1, 0, 5, 1 << 30, -7});
  params.key = {call.key.view()};
  params.value = {call.value.view()};
  params.paged = PagedCache{call.table.view(), 2};
  params.lengths->key_value = scene.kv_lengths;
  return call;
}

class PagedTest : public ::testing::TestWithParam<std::tuple<const char*, DataType, int>> {};

TEST_P(PagedTest, EveryCacheIsRead) {
  const auto& [layout, dtype, rank] = GetParam();
  Scene scene;
  scene.heads = 4;
  scene.kv_heads = 2;
  scene.value_dim = 32;
  const PagedCall call = MakePagedCall(scene, layout, dtype, rank);
  ExpectAllRows(scene, call.plain.params);
}

INSTANTIATE_TEST_SUITE_P(Caches, PagedTest,
                         ::testing::Combine(::testing::Values("BSND", "BNSD", "TND", "NTD_TND"),
                                            ::testing::Values(DataType::kFloat16, DataType::kFloat32),
                                            ::testing::Values(3, 4, 5)));

TEST(StorageTest, UsedBlockIdsAreChecked) {
  const Scene scene;
  for (const double id : {7.0, -1.0}) {
    PagedCall call = MakePagedCall(scene, "BSND", DataType::kFloat16, 4);
    call.table.Put({1, 1}, id);
    ReferenceResult result;
    const Status status = reference::ComputeAccepted(call.plain.params, nullptr, &result);
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.rule, "block_id");
    // A sequence without rows uses no entries.
    call.plain.params.lengths->query = {3, 0};
    EXPECT_TRUE(reference::ComputeAccepted(call.plain.params, nullptr, &result).ok());
  }
}

TEST(StorageTest, NullAddressesAreErrors) {
  const Scene scene;
  PlainCall call = MakePlainCall(scene, "BSND");
  call.params.value[0].data = nullptr;
  ReferenceResult result;
  const Status status = reference::ComputeAccepted(call.params, nullptr, &result);
  EXPECT_EQ(status.code, StatusCode::kRuntimeError);
  EXPECT_EQ(status.rule, "address");
  EXPECT_EQ(status.parameter, "value");
}

TEST(StorageTest, RowsOutsideTheOutputAreErrors) {
  const Scene scene;
  const PlainCall call = MakePlainCall(scene, "BSND");
  for (const RowIndex& row : {RowIndex{2, 0, 0}, RowIndex{0, 2, 0}, RowIndex{0, 0, 3}, RowIndex{0, -1, 0}}) {
    const std::vector<RowIndex> rows = {{0, 0, 0}, row};
    ReferenceResult result;
    EXPECT_EQ(reference::ComputeAccepted(call.params, &rows, &result).rule, "rows");
    EXPECT_TRUE(result.rows.empty());
  }
}

// Prefix tokens come first, for every sequence; the length may be less than the prefix's axis.
TEST(StorageTest, PrefixComesFirst) {
  for (const char* layout : {"BSH", "BSND", "BNSD"}) {
    Scene scene;
    PlainCall call = MakePlainCall(scene, layout);
    Tensor prefix_key = Arrange({layout, DataType::kFloat16, 4, {}}, {3}, 1, 16, Stream(8));
    Tensor prefix_value = Arrange({layout, DataType::kFloat16, 4, {}}, {3}, 1, 16, Stream(9));
    call.params.prefix = SharedPrefix{prefix_key.view(), prefix_value.view(), {3}};
    const auto joined = [](const Numbers& own, int prefix) {
      return [own, prefix](std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) {
        return j < 3 ? Stream(prefix)(0, n, j, d) : own(b, n, j - 3, d);
      };
    };
    Scene whole = scene;
    whole.key = joined(scene.key, 8);
    whole.value = joined(scene.value, 9);
    whole.kv_lengths = {8, 7};
    ExpectAllRows(whole, call.params);
    // A sequence without keys of its own attends the prefix.
    call.params.lengths->key_value = {0, 4};
    whole.kv_lengths = {3, 7};
    ExpectAllRows(whole, call.params);
  }
}

TEST(StorageTest, EmptyTensorsAreFilled) {
  Scene scene;
  PlainCall call = MakePlainCall(scene, "BSND");
  Tensor no_keys(DataType::kFloat16, {2, 0, 1, 16});
  Tensor lse(DataType::kFloat32, {2, 2, 3, 1});
  lse.Fill(INFINITY);
  call.out.Fill(0);
  call.params.key = {no_keys.view()};
  call.params.value = {no_keys.view()};
  call.params.softmax_lse = lse.view();
  ReferenceResult result;
  ASSERT_TRUE(reference::ComputeAccepted(call.params, nullptr, &result).ok());
  EXPECT_TRUE(result.fill_only);
  EXPECT_TRUE(CompareWithReference(call.params, result).passed);
  EXPECT_EQ(CompareWithReference(call.params, result).compared, 2 * 3 * 2 * 16 + 12);
  lse.Set(11, 3);
  EXPECT_FALSE(CompareWithReference(call.params, result).passed);
  lse.Set(11, INFINITY);
  call.out.Set(191, std::nan(""));
  EXPECT_FALSE(CompareWithReference(call.params, result).passed);
}

}  // namespace
}  // namespace fia::testing
