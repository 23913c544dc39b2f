// Executors: one run or many, who may run and end them, threads that race.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/operator_call.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"

namespace fia::testing {
namespace {

TEST(Executor, RunsOnce) {
  TwoKeys data(0, 1, 2, 4);
  OperatorCall call(&data);
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_NE(call.executor, nullptr);
  EXPECT_EQ(call.PhaseTwo(), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_TRUE(OutputIs(data, 0, 1, 2, 4));
  EXPECT_EQ(call.PhaseTwo(), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("executor"), std::string::npos);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(call.executor), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(Executor, AFailedRunFreesItToo) {
  TwoKeys data;
  OperatorCall call(&data);
  aclSetRawTensorAddr(call.key_tensor, nullptr);
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(call.PhaseTwo(), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("key"), std::string::npos) << aclGetRecentErrMsg();
  EXPECT_EQ(data.out[0].toFloat(), -1000.0f);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(Executor, RepeatableRunsUntilDestroyed) {
  TwoKeys data(1, 0, 3, 5);
  OperatorCall call(&data);
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), ACL_SUCCESS);
  for (int run = 0; run < 3; ++run) {
    std::fill(data.out.begin(), data.out.end(), op::fp16_t(-1000));
    EXPECT_EQ(call.PhaseTwo(), ACL_SUCCESS);
    EXPECT_TRUE(OutputIs(data, 1, 0, 3, 5));
  }
  // A run that fails does not end it.
  ASSERT_EQ(aclSetOutputTensorAddr(call.executor, 0, call.tensor(Argument::kAttentionOut), nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(call.PhaseTwo(), ACLNN_ERR_RUNTIME_ERROR);
  ASSERT_EQ(aclSetOutputTensorAddr(call.executor, 0, call.tensor(Argument::kAttentionOut), data.out.data()),
            ACL_SUCCESS);
  EXPECT_EQ(call.PhaseTwo(), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACL_SUCCESS);
  EXPECT_EQ(call.PhaseTwo(), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(Executor, MayBeDestroyedWithoutARun) {
  TwoKeys data;
  OperatorCall call(&data);
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACL_SUCCESS);
  EXPECT_EQ(call.PhaseTwo(), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(Executor, NullAndForeignValuesAreRefused) {
  TwoKeys data;
  OperatorCall call(&data);
  std::uint64_t memory[8] = {};
  for (void* value : {static_cast<void*>(nullptr), static_cast<void*>(memory), reinterpret_cast<void*>(1),
                      static_cast<void*>(call.key_tensor), reinterpret_cast<void*>(UINTPTR_MAX)}) {
    auto* executor = static_cast<aclOpExecutor*>(value);
    EXPECT_EQ(call.PhaseTwo(executor), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_STRNE(aclGetRecentErrMsg(), "");
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_EQ(aclSetInputTensorAddr(executor, 0, call.tensor(Argument::kQuery), memory),
              ACLNN_ERR_RUNTIME_ERROR);
  }
}

TEST(Executor, ArgumentsMayBeDestroyedAfterPhaseOne) {
  TwoKeys data(2, 0, 1, -1);
  std::uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  std::vector<std::int64_t> lengths = {2};
  {
    OperatorCall call(&data);
    aclIntArray* kv_lengths = aclCreateIntArray(lengths.data(), 1);
    lengths[0] = -5;
    call.at(Argument::kActualSeqLengthsKv) = kv_lengths;
    ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
    aclDestroyIntArray(kv_lengths);
    std::fill(call.layout.begin(), call.layout.end(), '?');
    size = call.workspace_size;
    executor = call.executor;
  }
  std::vector<unsigned char> workspace(size);
  EXPECT_EQ(aclnnFusedInferAttentionScoreV4(workspace.data(), size, executor, nullptr), ACL_SUCCESS);
  EXPECT_TRUE(OutputIs(data, 2, 0, 1, -1));
}

TEST(Executor, OfThreadsThatRaceOnOneShotExactlyOneWins) {
  constexpr int kThreads = 4, kRounds = 300;
  TwoKeys data(0, 0, 1, 1);
  OperatorCall call(&data);
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS);
    std::atomic<int> waiting{0}, won{0}, lost{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<unsigned char> workspace(call.workspace_size);
        ++waiting;
        while (waiting < kThreads) std::this_thread::yield();
        // The last thread tries to destroy what the others try to run.
        const aclnnStatus status =
            thread == kThreads - 1
                ? aclDestroyAclOpExecutor(call.executor)
                : aclnnFusedInferAttentionScoreV4(workspace.data(), workspace.size(), call.executor, nullptr);
        ++(status == ACL_SUCCESS ? won : lost);
        if (status != ACL_SUCCESS) {
          EXPECT_EQ(status, ACLNN_ERR_RUNTIME_ERROR);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(lost, kThreads - 1);
  }
}

// A call that takes long enough for others to try something meanwhile.
class LongCall {
 public:
  LongCall() {
    const std::vector<std::int64_t> dims = {1, 1, kKeys, kTwoKeysDim};
    key_.resize(static_cast<std::size_t>(kKeys * kTwoKeysDim), op::fp16_t(0));
    out_.resize(key_.size());
    aclTensor* key = MakeAclTensor(dims, ACL_FLOAT16, key_.data());
    aclTensor* value = MakeAclTensor(dims, ACL_FLOAT16, key_.data());
    call_.at(Argument::kQuery) = query_ = MakeAclTensor(dims, ACL_FLOAT16, key_.data());
    call_.at(Argument::kKey) = key_list_ = aclCreateTensorList(&key, 1);
    call_.at(Argument::kValue) = value_list_ = aclCreateTensorList(&value, 1);
    call_.at(Argument::kAttentionOut) = out_tensor_ = MakeAclTensor(dims, ACL_FLOAT16, out_.data());
  }
  ~LongCall() {
    aclDestroyTensorList(key_list_);
    aclDestroyTensorList(value_list_);
    aclDestroyTensor(query_);
    aclDestroyTensor(out_tensor_);
  }

  OperatorCall& call() { return call_; }

 private:
  static constexpr std::int64_t kKeys = 2048;
  TwoKeys unused_;
  OperatorCall call_{&unused_};
  std::vector<op::fp16_t> key_, out_;
  aclTensor* query_ = nullptr;
  aclTensor* out_tensor_ = nullptr;
  aclTensorList* key_list_ = nullptr;
  aclTensorList* value_list_ = nullptr;
};

TEST(Executor, RunningItRefusesASecondRunAndItsEnd) {
  LongCall long_call;
  OperatorCall& call = long_call.call();
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), ACL_SUCCESS);
  std::vector<unsigned char> workspace(call.workspace_size);
  std::atomic<int> refused{0};
  std::atomic<bool> stop{false};
  // Two threads run the same executor until one finds the other running: never at the same time.
  const auto run = [&](void* memory) {
    while (!stop) {
      const aclnnStatus status =
          aclnnFusedInferAttentionScoreV4(memory, call.workspace_size, call.executor, nullptr);
      if (status == ACLNN_ERR_RUNTIME_ERROR) ++refused;
      if (status != ACL_SUCCESS && status != ACLNN_ERR_RUNTIME_ERROR) ADD_FAILURE() << status;
      if (refused > 0) stop = true;
    }
  };
  std::vector<unsigned char> other_workspace(call.workspace_size);
  std::thread first(run, workspace.data()), second(run, other_workspace.data());
  first.join();
  second.join();
  EXPECT_GT(refused, 0);

  int destroy_refused = 0;
  std::atomic<bool> ended{false};
  std::thread runner([&] {
    while (aclnnFusedInferAttentionScoreV4(workspace.data(), workspace.size(), call.executor, nullptr) ==
           ACL_SUCCESS) {
    }
    ended = true;
  });
  // Destroying succeeds only between two runs; after it the runner is refused.
  while (aclDestroyAclOpExecutor(call.executor) != ACL_SUCCESS) ++destroy_refused;
  runner.join();
  EXPECT_TRUE(ended);
}

TEST(Executor, ManyThreadsUseTheirOwnAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([thread] {
      const auto number = static_cast<float>(thread);
      for (int round = 0; round < 100; ++round) {
        TwoKeys data(1, 0, number, -number);
        OperatorCall call(&data);
        ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS);
        ASSERT_EQ(call.PhaseTwo(), ACL_SUCCESS);
        ASSERT_TRUE(OutputIs(data, 1, 0, number, -number));
        call.layout = "nonsense";
        ASSERT_EQ(call.PhaseOne(), ACLNN_ERR_INNER_TILING_ERROR);
        ASSERT_NE(std::strstr(aclGetRecentErrMsg(), "inputLayout"), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fia::testing
