// Threads, splits and neighbours change who computes a row, never its bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "plan/plan.h"
#include "scalar_kernels.h"
#include "scene.h"

namespace fia::testing {
namespace {

struct Case {
  const char* name;
  SceneShape shape;
  std::int64_t low;
  std::int64_t high;
};

const Case kCases[] = {
    {"one long row", {1, 1, 8, 8, {{1, 9000}}, 0, 1}, -kUnbounded, kUnbounded},
    {"odd number of chunks", {2, 2, 8, 8, {{1, 5121}}, 0, 2}, -kUnbounded, kUnbounded},
    {"a group of heads", {6, 2, 8, 8, {{2, 4100}}, 0, 3}, -kUnbounded, kUnbounded},
    {"many rows", {2, 1, 8, 8, {{20, 6000}}, 0, 4}, -kUnbounded, kUnbounded},
    {"causal", {2, 2, 8, 8, {{300, 300}}, 0, 5}, -kUnbounded, 0},
    {"causal at the end", {1, 1, 8, 8, {{40, 5000}}, 0, 6}, -kUnbounded, 4960},
    {"a window", {1, 1, 8, 8, {{30, 7000}}, 0, 7}, 5000, 5300},
    {"a moving window", {1, 1, 8, 8, {{2100, 2100}}, 0, 8}, -40, 3},
    {"rows without keys", {2, 1, 8, 8, {{50, 3000}}, 0, 9}, 2980, 3010},
    {"long beside short",
     {2, 1, 8, 8, {{1, 6000}, {1, 7}, {3, 1}, {1, 2049}}, 0, 10},
     -kUnbounded,
     kUnbounded},
};

TEST(Splits, AnyNumberOfWorkersGivesTheSameBits) {
  bool split = false;
  for (const Case& item : kCases) {
    Scene scene(item.shape);
    scene.SetBand(item.low, item.high);
    const Result alone = scene.Run(1);
    EXPECT_EQ(Difference(alone, scene.Expected()), "") << item.name;
    for (const int workers : {2, 3, 7, 64}) {
      const Plan plan = MakePlan(scene.problem, ScalarKernels(), workers, std::nullopt);
      split = split || plan.merge_count > 0;
      EXPECT_TRUE(scene.Run(plan).SameBits(alone)) << item.name << " with " << workers;
    }
  }
  EXPECT_TRUE(split) << "no case splits keys: the test shows nothing";
}

TEST(Splits, NeighboursDoNotChangeASequence) {
  Scene both({2, 1, 8, 8, {{1, 3000}, {1, 5000}, {40, 3000}}, 0, 11});
  const Result together = both.Run(4);
  for (std::size_t b = 0; b < 3; ++b) {
    Scene alone({2, 1, 8, 8, {{1, 3000}, {1, 5000}, {40, 3000}}, 0, 11});
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != b) alone.problem.sequences[other].query_count = 0;
    }
    const Result single = alone.Run(4);
    const std::int64_t rows = 2 * 40, first = static_cast<std::int64_t>(b) * rows;
    for (std::int64_t at = first * 8; at < (first + rows) * 8; ++at) {
      ASSERT_EQ(single.out[at], together.out[at]) << "sequence " << b;
    }
    for (std::int64_t at = first; at < first + rows; ++at) ASSERT_EQ(single.lse[at], together.lse[at]);
  }
}

// Keys behind the last one that a row attends leave no trace in its bits, chunks and splits or not.
TEST(Splits, UnattendedKeysDoNotChangeARow) {
  Scene whole({1, 1, 8, 8, {{1, 3000}}, 0, 12});
  whole.SetBand(-kUnbounded, 1499);
  Scene cut({1, 1, 8, 8, {{1, 3000}}, 0, 12});
  cut.problem.sequences[0].key_count = cut.problem.sequences[0].segments[0].end = 1500;
  EXPECT_TRUE(whole.Run(8).SameBits(cut.Run(1)));
}

// A parallel-for of the caller may run the workers one after another, in any order.
void Backwards(void*, std::int64_t count, void (*task)(void*, std::int64_t), void* argument) {
  while (count-- > 0) task(argument, count);
}

TEST(Splits, ACallersParallelForMayRunWorkersInTurn) {
  Scene scene({2, 2, 8, 8, {{1, 9000}, {3, 500}}, 0, 13});
  const Result alone = scene.Run(1);
  EXPECT_TRUE(scene.Run(5, nullptr, ParallelFor{Backwards, nullptr, 5}).SameBits(alone));
}

}  // namespace
}  // namespace fia::testing
