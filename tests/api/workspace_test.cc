// The workspace of phase two: exact, short, larger, misaligned, null; and the executor's failures.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/call_builder.h"
#include "support/judge.h"

namespace fia::testing {
namespace {

// Calls of both bodies, with and without split keys, with rope, left padding and pages.
std::vector<CallSpec> Specs() {
  std::vector<CallSpec> specs(5);
  specs[0].kv_lengths = {300};
  specs[1].query_lengths = {40, 2};
  specs[1].kv_lengths = {300, 17};
  specs[1].threads = 3;
  specs[2].kv_lengths = {5000};
  specs[2].num_kv_heads = 1;
  specs[2].threads = 4;
  specs[3].num_heads = 8;
  specs[3].num_kv_heads = 1;
  specs[3].head_dim = specs[3].value_dim = 512;
  specs[3].rope_dim = 64;
  specs[3].storage = KvStorage::kPagedNz;
  specs[3].query_lengths = {2};
  specs[3].kv_lengths = {100};
  specs[4].padding.query = specs[4].padding.kv = true;
  specs[4].query_lengths = {20, 3};
  specs[4].kv_lengths = {60, 70};
  specs[4].bias.given = specs[4].sink = true;
  return specs;
}

struct Planned {
  Executor executor;
  std::uint64_t size = 0;
};

Planned PlanOf(const BuiltCall& call) {
  Planned planned;
  const Status status = GetWorkspaceSize(call.params(), &planned.size, &planned.executor);
  EXPECT_TRUE(status.ok()) << status.message;
  return planned;
}

std::vector<std::uint8_t> OutBytes(BuiltCall* call) {
  const Memory& memory = call->tensors()->out.memory;
  return {memory.data(), memory.data() + memory.size()};
}

TEST(Workspace, ExactLargerAndAtEveryAlignment) {
  for (const CallSpec& spec : Specs()) {
    BuiltCall call(spec);
    const Planned planned = PlanOf(call);
    ASSERT_TRUE(call.Run().ok());
    const std::vector<std::uint8_t> right = OutBytes(&call);
    for (const std::uint64_t extra : {0, 1, 100000}) {
      for (const std::size_t shift : {0, 1, 2, 3, 8, 13, 32, 63}) {
        std::vector<std::uint8_t> memory(planned.size + extra + shift + 64, 0xEE);
        std::uint8_t* const begin = memory.data() + shift;
        PoisonOutputs(call.params());
        const Status status = Execute(begin, planned.size + extra, planned.executor);
        ASSERT_TRUE(status.ok()) << status.message;
        EXPECT_EQ(OutBytes(&call), right) << Summary(spec) << " shift " << shift;
        for (std::size_t at = 0; at < shift; ++at) ASSERT_EQ(memory[at], 0xEE);
        for (std::size_t at = shift + planned.size + extra; at < memory.size(); ++at)
          ASSERT_EQ(memory[at], 0xEE);
      }
    }
  }
}

TEST(Workspace, WhatItHeldBeforeDoesNotMatter) {
  for (const CallSpec& spec : Specs()) {
    BuiltCall call(spec);
    const Planned planned = PlanOf(call);
    std::vector<std::uint8_t> zeros(planned.size, 0);
    std::vector<std::uint8_t> nans(planned.size, 0xFF);
    PoisonOutputs(call.params());
    ASSERT_TRUE(Execute(zeros.data(), planned.size, planned.executor).ok());
    const std::vector<std::uint8_t> first = OutBytes(&call);
    PoisonOutputs(call.params());
    ASSERT_TRUE(Execute(nans.data(), planned.size, planned.executor).ok());
    EXPECT_EQ(OutBytes(&call), first) << Summary(spec);
  }
}

TEST(Workspace, ShortOrMissingChangesNothing) {
  for (const CallSpec& spec : Specs()) {
    BuiltCall call(spec);
    const Planned planned = PlanOf(call);
    ASSERT_GT(planned.size, 0u);
    std::vector<std::uint8_t> memory(planned.size);
    const std::vector<std::uint8_t> before = OutBytes(&call);
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, planned.size - 1}) {
      const Status status = Execute(memory.data(), size, planned.executor);
      EXPECT_EQ(status.code, StatusCode::kRuntimeError);
      EXPECT_EQ(status.rule, "workspace");
    }
    const Status status = Execute(nullptr, planned.size, planned.executor);
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.rule, "workspace");
    EXPECT_EQ(OutBytes(&call), before);
  }
}

TEST(Workspace, NullWhereNothingIsNeeded) {
  CallSpec spec;
  spec.query_lengths = {3};
  spec.kv_lengths = {0};
  BuiltCall call(spec);
  const Planned planned = PlanOf(call);
  EXPECT_EQ(planned.size, 0u);
  EXPECT_TRUE(Execute(nullptr, 0, planned.executor).ok());
  EXPECT_EQ(call.Out(0, 2, 3, 5), 0);
}

TEST(Workspace, SizeIsTheSameEveryTime) {
  for (const CallSpec& spec : Specs()) {
    BuiltCall call(spec);
    EXPECT_EQ(PlanOf(call).size, PlanOf(call).size);
  }
}

TEST(ExecutorTest, WithoutAPlan) {
  const Status status = Execute(nullptr, 0, Executor());
  EXPECT_EQ(status.code, StatusCode::kRuntimeError);
  EXPECT_EQ(status.rule, "executor");
}

TEST(ExecutorTest, NullResultPointers) {
  BuiltCall call{CallSpec()};
  Executor executor;
  std::uint64_t size = 7;
  EXPECT_EQ(GetWorkspaceSize(call.params(), nullptr, &executor).code, StatusCode::kNullPointer);
  EXPECT_FALSE(executor.valid());
  EXPECT_EQ(GetWorkspaceSize(call.params(), &size, nullptr).code, StatusCode::kNullPointer);
  EXPECT_EQ(size, 0u);
}

TEST(ExecutorTest, NullAddressesOfWhatIsReadOrWritten) {
  CallSpec spec;
  spec.query_lengths = {3};
  spec.storage = KvStorage::kPagedBnNBsD;
  spec.bias.given = spec.sink = spec.mask.given = true;
  for (const Argument argument :
       {Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kPseShift, Argument::kAttenMask,
        Argument::kBlockTable, Argument::kLearnableSink, Argument::kAttentionOut, Argument::kSoftmaxLse}) {
    BuiltCall call(spec);
    Planned planned = PlanOf(call);
    std::vector<std::uint8_t> memory(planned.size);
    const std::vector<std::uint8_t> before = OutBytes(&call);
    ASSERT_TRUE(planned.executor.SetAddress(argument, 0, nullptr).ok());
    const Status status = Execute(memory.data(), planned.size, planned.executor);
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.rule, "address");
    EXPECT_EQ(OutBytes(&call), before);
  }
}

TEST(ExecutorTest, TheContentsOfBandMasksAreNotRead) {
  CallSpec spec;
  spec.query_lengths = {5};
  spec.mask.mode = 3;
  BuiltCall call(spec);
  call.mutable_params()->mask->tensor.data = nullptr;
  EXPECT_TRUE(MatchesReference(call.params()));
}

}  // namespace
}  // namespace fia::testing
