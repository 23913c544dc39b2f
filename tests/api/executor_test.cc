// Executors are values: reusable, pointed at other data, copied, run at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "support/call_builder.h"
#include "support/judge.h"

namespace fia::testing {
namespace {

CallSpec SpecOf(std::uint64_t seed) {
  CallSpec spec;
  spec.seed = seed;
  spec.query_lengths = {1, 9};
  spec.kv_lengths = {300, 77};
  spec.threads = 2;
  return spec;
}

std::vector<std::uint8_t> AllBits(const BuiltCall& call) {
  std::vector<std::uint8_t> bits;
  for (std::int64_t b = 0; b < call.spec().batch(); ++b) {
    const std::vector<std::uint8_t> part = call.Bits(b);
    bits.insert(bits.end(), part.begin(), part.end());
  }
  return bits;
}

std::vector<std::uint8_t> RightBits(const CallSpec& spec) {
  BuiltCall call(spec);
  EXPECT_TRUE(call.Run().ok());
  return AllBits(call);
}

Status RunWith(const Executor& executor, std::uint64_t size) {
  std::vector<std::uint8_t> workspace(size);
  return Execute(workspace.data(), size, executor);
}

TEST(ExecutorReuse, ParametersMayBeGoneAndDataMayChange) {
  BuiltCall first(SpecOf(1));
  BuiltCall second(SpecOf(2));
  Executor executor;
  std::uint64_t size = 0;
  {
    auto params = std::make_unique<AttentionParams>(first.params());
    ASSERT_TRUE(GetWorkspaceSize(*params, &size, &executor).ok());
  }
  ASSERT_TRUE(RunWith(executor, size).ok());
  EXPECT_EQ(AllBits(first), RightBits(SpecOf(1)));
  const auto copy = [](const TensorView& from, const TensorView& to, std::size_t bytes) {
    std::copy_n(static_cast<std::uint8_t*>(from.data), bytes, static_cast<std::uint8_t*>(to.data));
  };
  const std::size_t query_bytes = first.tensors()->inputs[0].memory.size();
  copy(second.params().query, first.params().query, query_bytes);
  const std::size_t key_bytes = first.tensors()->inputs[1].memory.size();
  copy(second.params().key[0], first.params().key[0], key_bytes);
  copy(second.params().value[0], first.params().value[0], first.tensors()->inputs[2].memory.size());
  for (int turn = 0; turn < 3; ++turn) {
    PoisonOutputs(first.params());
    ASSERT_TRUE(RunWith(executor, size).ok());
    EXPECT_EQ(AllBits(first), RightBits(SpecOf(2)));
  }
}

// Every argument that a call can have is pointed at the data of another call.
TEST(ExecutorReuse, SetAddressOfEveryArgument) {
  std::vector<CallSpec> specs(4, SpecOf(1));
  specs[0].mask.given = specs[0].bias.given = specs[0].sink = true;
  specs[0].padding.query = specs[0].padding.kv = true;
  specs[1].storage = KvStorage::kPagedNz;
  specs[1].rope_dim = 64;
  specs[2].storage = KvStorage::kList;
  specs[3].prefix.length = 9;
  for (CallSpec spec : specs) {
    BuiltCall first(spec);
    spec.seed = 2;
    BuiltCall second(spec);
    Executor executor;
    std::uint64_t size = 0;
    ASSERT_TRUE(GetWorkspaceSize(first.params(), &size, &executor).ok());
    const AttentionParams& to = second.params();
    const auto set = [&executor](Argument argument, std::int64_t member, const TensorView& view) {
      if (!view.present()) return;
      EXPECT_TRUE(executor.SetAddress(argument, member, view.data).ok());
    };
    set(Argument::kQuery, 0, to.query);
    for (std::size_t member = 0; member < to.key.size(); ++member) {
      set(Argument::kKey, static_cast<std::int64_t>(member), to.key[member]);
      set(Argument::kValue, static_cast<std::int64_t>(member), to.value[member]);
    }
    set(Argument::kPseShift, 0, to.scores.pse_shift);
    set(Argument::kLearnableSink, 0, to.scores.learnable_sink);
    set(Argument::kAttenMask, 0, to.mask->tensor);
    if (to.paged) set(Argument::kBlockTable, 0, to.paged->block_table);
    if (to.padding) set(Argument::kQueryPaddingSize, 0, to.padding->query_size);
    if (to.padding) set(Argument::kKvPaddingSize, 0, to.padding->kv_size);
    if (to.prefix) set(Argument::kKeySharedPrefix, 0, to.prefix->key);
    if (to.prefix) set(Argument::kValueSharedPrefix, 0, to.prefix->value);
    if (to.rope) set(Argument::kQueryRope, 0, to.rope->query);
    if (to.rope) set(Argument::kKeyRope, 0, to.rope->key);
    set(Argument::kAttentionOut, 0, to.attention_out);
    set(Argument::kSoftmaxLse, 0, *to.softmax_lse);
    PoisonOutputs(to);
    ASSERT_TRUE(RunWith(executor, size).ok());
    EXPECT_EQ(AllBits(second), RightBits(spec)) << Summary(spec);
  }
}

TEST(ExecutorReuse, SetAddressOfWhatTheCallDoesNotHave) {
  BuiltCall call(SpecOf(1));
  Executor executor;
  EXPECT_EQ(executor.SetAddress(Argument::kQuery, 0, nullptr).rule, "executor");
  std::uint64_t size = 0;
  ASSERT_TRUE(GetWorkspaceSize(call.params(), &size, &executor).ok());
  for (const Argument argument :
       {Argument::kPseShift, Argument::kBlockTable, Argument::kKeyRope, Argument::kActualSeqLengths,
        static_cast<Argument>(-1), static_cast<Argument>(31), static_cast<Argument>(1000)}) {
    const Status status = executor.SetAddress(argument, 0, nullptr);
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.rule, "executor");
  }
  EXPECT_FALSE(executor.SetAddress(Argument::kKey, 1, nullptr).ok());
  EXPECT_FALSE(executor.SetAddress(Argument::kKey, -1, nullptr).ok());
  EXPECT_FALSE(executor.SetAddress(Argument::kQuery, 1, nullptr).ok());
  EXPECT_TRUE(RunWith(executor, size).ok());  // nothing has changed
}

TEST(ExecutorReuse, CopiesHaveTheirOwnAddresses) {
  BuiltCall first(SpecOf(1));
  BuiltCall second(SpecOf(1));
  Executor executor;
  std::uint64_t size = 0;
  ASSERT_TRUE(GetWorkspaceSize(first.params(), &size, &executor).ok());
  Executor copy = executor;
  ASSERT_TRUE(copy.SetAddress(Argument::kAttentionOut, 0, second.params().attention_out.data).ok());
  ASSERT_TRUE(copy.SetAddress(Argument::kSoftmaxLse, 0, second.params().softmax_lse->data).ok());
  PoisonOutputs(first.params());
  ASSERT_TRUE(RunWith(copy, size).ok());
  EXPECT_EQ(AllBits(second), RightBits(SpecOf(1)));
  EXPECT_NE(AllBits(first), AllBits(second));
  Executor moved = std::move(executor);
  ASSERT_TRUE(RunWith(moved, size).ok());
  EXPECT_EQ(AllBits(first), AllBits(second));
}

TEST(ConcurrentCalls, DifferentCallsThroughBothPhases) {
  constexpr int kThreads = 6;
  std::vector<std::vector<std::uint8_t>> right;
  for (int thread = 0; thread < kThreads; ++thread)
    right.push_back(RightBits(SpecOf(static_cast<std::uint64_t>(thread))));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&wrong, &right, thread] {
      BuiltCall call(SpecOf(static_cast<std::uint64_t>(thread)));
      for (int turn = 0; turn < 20; ++turn) {
        PoisonOutputs(call.params());
        if (!call.Run().ok() || AllBits(call) != right[static_cast<std::size_t>(thread)]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ConcurrentCalls, OnePlanWithManyOutputs) {
  constexpr int kThreads = 5;
  BuiltCall source(SpecOf(3));
  const std::vector<std::uint8_t> right = RightBits(SpecOf(3));
  Executor executor;
  std::uint64_t size = 0;
  ASSERT_TRUE(GetWorkspaceSize(source.params(), &size, &executor).ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&wrong, &right, &executor, size] {
      BuiltCall target(SpecOf(3));
      Executor own = executor;
      own.SetAddress(Argument::kAttentionOut, 0, target.params().attention_out.data);
      own.SetAddress(Argument::kSoftmaxLse, 0, target.params().softmax_lse->data);
      for (int turn = 0; turn < 20; ++turn) {
        PoisonOutputs(target.params());
        if (!RunWith(own, size).ok() || AllBits(target) != right) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace fia::testing
