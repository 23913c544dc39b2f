// Wherever keys and values lie, the kernels see the same rows: results have the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "scene.h"

namespace fia::testing {
namespace {

SceneShape ThreeSequences() { return {4, 2, 16, 8, {{3, 70}, {1, 1100}, {2, 33}}, 0, 5}; }

class Storage : public ::testing::Test {
 protected:
  void SetUp() override {
    Scene plain(ThreeSequences());
    expected_ = plain.Run(1);
    EXPECT_EQ(Difference(expected_, plain.Expected()), "");
  }

  Result expected_;
};

TEST_F(Storage, PagesOfEverySizeGiveTheSameBits) {
  for (const std::int64_t block_size : {1, 3, 16, 128, 256, 2000}) {
    Scene scene(ThreeSequences());
    scene.UsePages(block_size);
    EXPECT_TRUE(scene.Run(2).SameBits(expected_)) << block_size;
  }
}

TEST_F(Storage, ChunkedRowsGiveTheSameBits) {
  for (const std::int64_t chunk : {8, 4, 2}) {
    Scene scene(ThreeSequences());
    scene.UseChunks(chunk);
    EXPECT_TRUE(scene.Run(2).SameBits(expected_)) << chunk;
  }
}

TEST_F(Storage, ElementsApartGiveTheSameBits) {
  Scene scene(ThreeSequences());
  scene.UseDimStride(3);
  EXPECT_TRUE(scene.Run(1).SameBits(expected_));
}

TEST(SharedPrefix, IsTheFirstKeysOfEverySequence) {
  for (const std::int64_t length : {1, 5, 30}) {
    Scene scene({4, 2, 16, 8, {{3, 70}, {1, 300}, {2, 33}}, 0, 6});
    scene.UsePrefix(length);
    const Result split = scene.Run(2);
    EXPECT_EQ(Difference(split, scene.Expected()), "") << length;
    Scene whole({4, 2, 16, 8, {{3, 70}, {1, 300}, {2, 33}}, 0, 6});
    whole.key = scene.key;
    whole.value = scene.value;
    EXPECT_TRUE(split.SameBits(whole.Run(1))) << length;
  }
}

TEST(SharedPrefix, ServesSequencesWithoutKeysOfTheirOwn) {
  Scene scene({2, 1, 8, 8, {{2, 10}, {1, 4}}, 0, 7});
  scene.UsePrefix(4);
  scene.problem.sequences[1].segment_count = 1;
  EXPECT_EQ(Difference(scene.Run(1), scene.Expected()), "");
}

TEST(LeftPadding, MovesRowsAndKeysToTheEnd) {
  // Lengths 2 of 5 and 3 of 9 with one free place behind: rows 2..3, keys 5..7.
  Scene scene({2, 1, 8, 8, {{5, 9}}, 0, 8});
  scene.problem.sequences[0].query_count = 2;
  scene.problem.sequences[0].key_count = scene.problem.sequences[0].segments[0].end = 3;
  scene.problem.query_padding_slot = static_cast<int>(Argument::kQueryPaddingSize);
  scene.problem.kv_padding_slot = static_cast<int>(Argument::kKvPaddingSize);
  scene.Give(Argument::kQueryPaddingSize, std::vector<std::int64_t>{1});
  scene.Give(Argument::kKvPaddingSize, std::vector<std::int64_t>{1});
  const Result got = scene.Run(1);
  // The same by a band: rows 2 and 3 of a call without padding attend keys 5..7.
  Scene banded({2, 1, 8, 8, {{5, 9}}, 0, 8});
  Result expected = banded.Expected();
  for (std::int64_t i = 0; i < 5; ++i) {
    banded.SetBand(5 - i, 7 - i);
    const Result row = banded.Expected();
    for (std::int64_t n = 0; n < 2; ++n) {
      const bool valid = i == 2 || i == 3;
      expected.lse[n * 5 + i] = valid ? row.lse[n * 5 + i] : INFINITY;
      for (std::int64_t d = 0; d < 8; ++d) {
        expected.out[(n * 5 + i) * 8 + d] = valid ? row.out[(n * 5 + i) * 8 + d] : 0;
      }
    }
  }
  EXPECT_EQ(Difference(got, expected), "");
}

TEST(LeftPadding, StartsBelowZeroLeaveTheSequenceEmpty) {
  for (const std::int64_t padding : {std::int64_t{4}, std::int64_t{100}, INT64_MAX}) {
    Scene scene({2, 1, 8, 8, {{2, 6}, {5, 9}}, 0, 8});
    scene.problem.kv_padding_slot = static_cast<int>(Argument::kKvPaddingSize);
    scene.Give(Argument::kKvPaddingSize, std::vector<std::int64_t>{padding});
    const Result got = scene.Run(2);
    for (const float x : got.out) EXPECT_EQ(x, 0);
    for (const float x : got.lse) EXPECT_EQ(x, INFINITY);
  }
}

TEST(LeftPadding, NegativeSizesCountAsZero) {
  const auto run = [](std::int64_t padding) {
    Scene scene({2, 1, 8, 8, {{2, 6}, {5, 9}}, 0, 8});
    scene.problem.query_padding_slot = static_cast<int>(Argument::kQueryPaddingSize);
    scene.Give(Argument::kQueryPaddingSize, std::vector<std::int64_t>{padding});
    return scene.Run(1);
  };
  EXPECT_TRUE(run(-5).SameBits(run(0)));
  EXPECT_FALSE(run(1).SameBits(run(0)));
}

}  // namespace
}  // namespace fia::testing
