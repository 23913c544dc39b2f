// Caches that hold heads side by side are read a few chunks at a time, by one head after the other.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/items.h"
#include "plan/made_plan.h"

namespace fia::testing {
namespace {

TEST(Turns, HeadsThatLieTogetherTakeTurns) {
  constexpr std::int64_t kHeads = 8;
  constexpr std::int64_t kKeys = 8192;
  Problem apart = MakeProblem(32, kHeads, 128, 128, {{1, kKeys}});
  apart.storage[0].key.row_stride = 256;
  apart.storage[0].key.head_stride = 256 * kKeys;
  EXPECT_EQ(PlanOf(apart, 1).works[0].splits, 1);
  Problem by_token = apart;
  by_token.storage[0].key.row_stride = 256 * kHeads;
  by_token.storage[0].key.head_stride = 256;
  Problem paged = apart;
  paged.storage[0].paged = true;
  for (const Problem& problem : {by_token, paged}) {
    for (const int workers : {1, 2}) {
      const Plan plan = PlanOf(problem, workers);
      const std::int64_t chunks = kKeys / plan.tilings[static_cast<int>(Body::kFewRows)].chunk_keys;
      ASSERT_EQ(plan.works[0].splits, chunks / 4);
      for (std::int64_t index = 0; index < plan.item_count; ++index) {
        EXPECT_EQ(ItemAt(plan, index).kv_head, index % kHeads);
        EXPECT_EQ(ItemAt(plan, index).split, index / kHeads);
      }
      ExpectExactCover(plan, "heads that take turns");
    }
  }
  // One head has nobody to take turns with, many rows read keys once for all of them.
  by_token.num_heads = 4;
  by_token.num_kv_heads = 1;
  EXPECT_EQ(PlanOf(by_token, 1).works[0].splits, 1);
  by_token = MakeProblem(32, kHeads, 128, 128, {{100, kKeys}});
  by_token.storage[0].key.row_stride = 256 * kHeads;
  by_token.storage[0].key.head_stride = 256;
  EXPECT_EQ(PlanOf(by_token, 1).works[0].splits, 1);
}

// Turns end where partial states would take too much: the chunks of a turn grow with the length.
TEST(Turns, OfTheLongestSequencesAreLonger) {
  Problem problem = MakeProblem(64, 8, 128, 128, {{1, 1 << 20}, {2, 1 << 20}, {1, 5000}});
  problem.storage[0].paged = true;
  for (const int workers : {1, 2, 16}) {
    const Plan plan = PlanOf(problem, workers);
    EXPECT_GT(plan.works[0].splits, 1);
    EXPECT_LE(plan.workspace.total, (8 << 20) * plan.workers) << workers;
    ExpectExactCover(plan, "longest turns");
  }
}

}  // namespace
}  // namespace fia::testing
