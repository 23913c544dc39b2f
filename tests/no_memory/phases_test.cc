// Memory that runs out at any moment of either phase gives a status: no exception, no half-made executor.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fia/attention.h"
#include "no_memory/failing_new.h"
#include "support/call_builder.h"

namespace fia::testing {
namespace {

// Calls whose phase one allocates in every stage: split keys, a list, pages, packed sequences, a prefix, a
// quantised cache.
std::vector<CallSpec> Specs() {
  std::vector<CallSpec> specs(5);
  specs[0].kv_lengths = {5000};
  specs[0].threads = 4;
  specs[1].query_lengths = {3, 40, 2};
  specs[1].kv_lengths = {30, 70, 5};
  specs[1].storage = KvStorage::kList;
  specs[2].query_lengths = {1, 1};
  specs[2].kv_lengths = {30, 70};
  specs[2].storage = KvStorage::kPagedBnNBsD;
  specs[3].layout = "TND";
  specs[3].query_lengths = {4, 0, 9};
  specs[3].kv_lengths = {14, 3, 9};
  specs[3].mask.mode = 3;
  specs[4].prefix.length = 20;
  specs[4].bias.given = true;
  return specs;
}

struct Outcome {
  Status status;
  std::int64_t failures = 0;
};

// `run` with only the first `allowed` allocations.
Outcome RunWith(std::int64_t allowed, const std::function<Status()>& run) {
  Outcome outcome;
  const FailingNew failing(allowed);
  outcome.status = run();
  outcome.failures = failing.failures();
  return outcome;
}

TEST(NoMemory, InPhaseOneIsAStatus) {
  for (const CallSpec& spec : Specs()) {
    SCOPED_TRACE(Summary(spec));
    const BuiltCall call(spec);
    std::int64_t allowed = 0;
    for (;; ++allowed) {
      ASSERT_LT(allowed, 10000);
      std::uint64_t size = 77;
      Executor executor;
      const Outcome outcome =
          RunWith(allowed, [&] { return GetWorkspaceSize(call.params(), &size, &executor); });
      if (outcome.failures == 0) {
        EXPECT_TRUE(outcome.status.ok()) << outcome.status.message;
        EXPECT_TRUE(executor.valid());
        break;
      }
      EXPECT_EQ(outcome.status.code, StatusCode::kTilingError);
      EXPECT_EQ(outcome.status.rule, "memory");
      EXPECT_EQ(size, 0u);
      EXPECT_FALSE(executor.valid());
    }
    EXPECT_GT(allowed, 3);
    EXPECT_TRUE(call.Run().ok());
  }
}

TEST(NoMemory, ForTheTextOfARefusalIsAStatus) {
  CallSpec spec;
  BuiltCall call(spec);
  call.mutable_params()->heads.num_heads = 3;
  bool refused = false;
  for (std::int64_t allowed = 0; !refused; ++allowed) {
    ASSERT_LT(allowed, 10000);
    std::uint64_t size = 77;
    Executor executor;
    const Outcome outcome =
        RunWith(allowed, [&] { return GetWorkspaceSize(call.params(), &size, &executor); });
    EXPECT_EQ(outcome.status.code, StatusCode::kTilingError);
    EXPECT_EQ(size, 0u);
    refused = outcome.failures == 0;
    EXPECT_EQ(outcome.status.rule == "memory", !refused) << outcome.status.message;
  }
}

TEST(NoMemory, InPhaseTwoAndSettersIsAStatus) {
  const BuiltCall call(CallSpec{});
  std::uint64_t size = 0;
  Executor executor;
  ASSERT_TRUE(GetWorkspaceSize(call.params(), &size, &executor).ok());
  Executor without_query = executor;
  ASSERT_TRUE(without_query.SetAddress(Argument::kQuery, 0, nullptr).ok());
  std::vector<char> workspace(size);
  const std::function<Status()> failures[] = {
      [&] { return Execute(workspace.data(), 0, executor); },
      [&] { return Execute(workspace.data(), size, without_query); },
      [&] { return Execute(workspace.data(), size, Executor()); },
      [&] { return executor.SetAddress(Argument::kBlockTable, 0, nullptr); },
      [&] { return executor.SetAddress(static_cast<Argument>(12345), -1, nullptr); },
  };
  for (const std::function<Status()>& run : failures) {
    for (std::int64_t allowed = 0; allowed < 20; ++allowed) {
      EXPECT_EQ(RunWith(allowed, run).status.code, StatusCode::kRuntimeError);
    }
  }
  const Outcome executed = RunWith(0, [&] { return Execute(workspace.data(), size, executor); });
  EXPECT_TRUE(executed.status.ok());
  EXPECT_EQ(executed.failures, 0);
}

TEST(NoMemory, ForAnExplanationIsAnEmptyText) {
  const BuiltCall call(CallSpec{});
  std::uint64_t size = 0;
  Executor executor;
  ASSERT_TRUE(GetWorkspaceSize(call.params(), &size, &executor).ok());
  bool complete = false;
  for (std::int64_t allowed = 0; !complete; ++allowed) {
    ASSERT_LT(allowed, 1000);
    std::string text;
    std::int64_t failures = 0;
    {
      const FailingNew failing(allowed);
      text = Explain(executor);
      failures = failing.failures();
    }
    complete = failures == 0;
    EXPECT_EQ(text.empty(), !complete);
  }
}

}  // namespace
}  // namespace fia::testing
