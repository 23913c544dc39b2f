// What phase two refuses, and that it writes nothing then.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/arguments.h"
#include "exec/exec.h"
#include "plan/plan.h"
#include "scalar_kernels.h"
#include "scene.h"

namespace fia::testing {
namespace {

bool Untouched(const Result& result) {
  for (const float x : result.out) {
    if (!std::isnan(x)) return false;
  }
  for (const float x : result.lse) {
    if (!std::isnan(x)) return false;
  }
  return true;
}

TEST(Checks, WorkspaceNullOrOneByteShort) {
  Scene scene({2, 1, 8, 8, {{2, 20}}, 0, 1});
  const Plan plan = MakePlan(scene.problem, ScalarKernels(), 2, std::nullopt);
  ASSERT_GT(plan.workspace.total, 0);
  const Status null = RunPlan(plan, scene.addresses.data(), nullptr, 1 << 30);
  EXPECT_EQ(null.code, StatusCode::kRuntimeError);
  EXPECT_EQ(null.rule, "workspace");
  std::vector<char> memory(static_cast<std::size_t>(plan.workspace.total));
  const Status small = RunPlan(plan, scene.addresses.data(), memory.data(), memory.size() - 1);
  EXPECT_EQ(small.rule, "workspace");
  EXPECT_NE(small.message.find(std::to_string(memory.size())), std::string::npos) << small.message;
}

TEST(Checks, NoWorkNeedsNoWorkspace) {
  Scene scene({2, 1, 8, 8, {{2, 0}}, 0, 1});
  const Plan plan = MakePlan(scene.problem, ScalarKernels(), 2, std::nullopt);
  EXPECT_EQ(plan.workspace.total, 0);
  EXPECT_EQ(Difference(scene.Run(plan), scene.Expected()), "");
}

TEST(Checks, NullAddressesOfUsedTensorsAreNamed) {
  Scene scene({2, 1, 8, 8, {{2, 20}}, 0, 1});
  scene.Run(1);
  for (const Argument argument : {Argument::kKey, Argument::kValue, Argument::kQuery}) {
    void*& address = scene.addresses[static_cast<std::size_t>(argument)];
    void* const kept = address;
    address = nullptr;
    std::vector<char> memory(1 << 20);
    const Plan plan = MakePlan(scene.problem, ScalarKernels(), 1, std::nullopt);
    const Status status = RunPlan(plan, scene.addresses.data(), memory.data(), memory.size());
    EXPECT_EQ(status.rule, "address");
    EXPECT_EQ(status.parameter, ArgumentName(argument));
    address = kept;
  }
}

TEST(Checks, MembersOfListsAreNamed) {
  Scene scene({2, 1, 8, 8, {{2, 20}, {1, 20}, {1, 20}}, 0, 1});
  scene.Run(1);
  scene.problem.storage.resize(3, scene.problem.storage.front());
  scene.addresses.resize(kArgumentCount + 4);
  for (int slot = kArgumentCount; slot < kArgumentCount + 4; ++slot) {
    scene.problem.used_slots.push_back(slot);
    scene.addresses[static_cast<std::size_t>(slot)] = scene.addresses[1];
  }
  const Plan plan = MakePlan(scene.problem, ScalarKernels(), 1, std::nullopt);
  const char* expected[] = {"key member 1", "key member 2", "value member 1", "value member 2"};
  for (int further = 0; further < 4; ++further) {
    std::vector<void*> addresses = scene.addresses;
    addresses[static_cast<std::size_t>(kArgumentCount + further)] = nullptr;
    std::vector<char> memory(1 << 20);
    const Status status = RunPlan(plan, addresses.data(), memory.data(), memory.size());
    EXPECT_EQ(status.message.rfind(expected[further], 0), 0u) << status.message;
  }
}

TEST(Checks, UsedBlockIdsOutOfRange) {
  for (const std::int32_t bad : {-1, 1 << 30, 0}) {
    Scene scene({2, 1, 8, 8, {{2, 20}, {1, 40}}, 0, 1});
    scene.UsePages(16);
    auto* table = static_cast<std::int32_t*>(scene.addresses[static_cast<int>(Argument::kBlockTable)]);
    table[4] = bad == 0 ? static_cast<std::int32_t>(scene.problem.block_count) : bad;
    Status status;
    EXPECT_TRUE(Untouched(scene.Run(2, &status)));
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.parameter, "blockTable");
    EXPECT_EQ(status.rule, "block_id");
    EXPECT_NE(status.message.find("blockTable[1][1] is " + std::to_string(table[4])), std::string::npos);
    EXPECT_NE(status.message.find("0..6"), std::string::npos) << status.message;
  }
}

TEST(Checks, UnusedBlockIdsAreNotLookedAt) {
  Scene scene({2, 1, 8, 8, {{2, 20}, {1, 40}, {0, 40}}, 0, 1});
  scene.UsePages(16);
  auto* table = static_cast<std::int32_t*>(scene.addresses[static_cast<int>(Argument::kBlockTable)]);
  ASSERT_EQ(table[2], -7);  // behind the 20 keys of sequence 0
  for (int entry = 6; entry < 9; ++entry) table[entry] = 1 << 30;
  EXPECT_EQ(Difference(scene.Run(2), scene.Expected()), "");
}

}  // namespace
}  // namespace fia::testing
