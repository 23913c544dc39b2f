// Phase two allocates nothing: every kind of call is run between two looks at the counter of allocations.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fia/runtime.h"
#include "no_malloc/count.h"
#include "support/call_builder.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

class NoMalloc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CanCountAllocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  }
};

// Allocations of one Execute. The threads exist already: the call has run before.
std::int64_t AllocationsOf(const BuiltCall& call) {
  Executor executor;
  std::uint64_t size = 0;
  const Status planned = GetWorkspaceSize(call.params(), &size, &executor);
  EXPECT_TRUE(planned.ok()) << planned.message;
  std::vector<std::uint8_t> workspace(size + 1);
  EXPECT_TRUE(Execute(workspace.data(), size, executor).ok());
  const std::int64_t before = Allocations();
  const Status status = Execute(workspace.data(), size, executor);
  const std::int64_t after = Allocations();
  EXPECT_TRUE(status.ok());
  return after - before;
}

TEST_F(NoMalloc, TheCounterCounts) {
  const std::int64_t before = Allocations();
  const std::string text(1000, 'x');
  std::vector<int> numbers(text.size());
  EXPECT_GE(Allocations() - before, 2);
}

TEST_F(NoMalloc, DecodePrefillAndSplits) {
  for (const int threads : {1, 2, 4}) {
    for (const std::int64_t rows : {1, 3, 300}) {
      for (const std::int64_t keys : {0, 5, 700, 5000}) {
        CallSpec spec;
        spec.num_heads = 2;
        spec.num_kv_heads = 1;
        spec.query_lengths = {rows};
        spec.kv_lengths = {keys};
        spec.threads = threads;
        EXPECT_EQ(AllocationsOf(BuiltCall(spec)), 0) << Summary(spec);
      }
    }
  }
}

TEST_F(NoMalloc, LongRowsBeyondAnyFixedBuffer) {
  CallSpec spec;
  spec.head_dim = spec.value_dim = 4096;
  spec.query_lengths = {40};
  spec.kv_lengths = {70};
  EXPECT_EQ(AllocationsOf(BuiltCall(spec)), 0);
}

TEST_F(NoMalloc, RandomCalls) {
  for (std::uint64_t index = 0; index < 150; ++index) {
    for (const CallSpec& spec : {RandomCall(5, index), RandomQuantisedCall(5, index)})
      EXPECT_EQ(AllocationsOf(BuiltCall(spec)), 0) << index << ' ' << Summary(spec);
  }
}

}  // namespace
}  // namespace fia::testing
