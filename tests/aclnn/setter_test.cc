// Pointing executors at other data.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/operator_call.h"

namespace fia::testing {
namespace {

// A repeatable executor over `data`, to be pointed at `other`.
class Setters : public ::testing::Test {
 protected:
  void SetUp() override { Plan(); }
  void TearDown() override { aclDestroyAclOpExecutor(call_.executor); }

  void Plan() {
    aclDestroyAclOpExecutor(call_.executor);
    ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(call_.executor), ACL_SUCCESS);
  }

  // The run reads these numbers and writes into `out`'s output.
  void ExpectRun(TwoKeys& out, double k0, double k1, double v0, double v1) {
    std::fill(out.out.begin(), out.out.end(), op::fp16_t(-1000));
    ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_TRUE(OutputIs(out, k0, k1, v0, v1));
  }

  TwoKeys data_{0, 1, 2, 4};
  TwoKeys other_{3, 0, -5, 7};
  OperatorCall call_{&data_};
};

TEST_F(Setters, TheHandleAtItsIndex) {
  aclOpExecutor* executor = call_.executor;
  ExpectRun(data_, 0, 1, 2, 4);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 2, call_.value_tensor, other_.value.data()), ACL_SUCCESS);
  ExpectRun(data_, 0, 1, -5, 7);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 1, call_.key_tensor, other_.key.data()), ACL_SUCCESS);
  ExpectRun(data_, 3, 0, -5, 7);
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 0, call_.tensor(Argument::kAttentionOut), other_.out.data()),
            ACL_SUCCESS);
  ExpectRun(other_, 3, 0, -5, 7);
  std::vector<op::fp16_t> zeros(kTwoKeysDim);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, call_.tensor(Argument::kQuery), zeros.data()), ACL_SUCCESS);
  ExpectRun(other_, 0, 0, -5, 7);
}

TEST_F(Setters, AWrongIndexStillFindsTheOnlyArgument) {
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 12, call_.value_tensor, other_.value.data()), ACL_SUCCESS);
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, SIZE_MAX, call_.key_tensor, other_.key.data()),
            ACL_SUCCESS);
  EXPECT_EQ(
      aclSetOutputTensorAddr(call_.executor, 1, call_.tensor(Argument::kAttentionOut), other_.out.data()),
      ACL_SUCCESS);
  ExpectRun(other_, 3, 0, -5, 7);
}

TEST_F(Setters, TheIndexDecidesBetweenSeveral) {
  const aclTensorList* lists[] = {call_.list(Argument::kKey), call_.list(Argument::kValue)};
  call_.at(Argument::kValue) = lists[0];
  Plan();
  ExpectRun(data_, 0, 1, 0, 1);
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 2, call_.key_tensor, other_.value.data()), ACL_SUCCESS);
  ExpectRun(data_, 0, 1, -5, 7);
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 1, call_.key_tensor, other_.key.data()), ACL_SUCCESS);
  ExpectRun(data_, 3, 0, -5, 7);
  // Given for two arguments, but for neither of these.
  for (const std::size_t index : {std::size_t{0}, std::size_t{5}, std::size_t{29}, SIZE_MAX}) {
    EXPECT_EQ(aclSetInputTensorAddr(call_.executor, index, call_.key_tensor, data_.key.data()),
              ACLNN_ERR_RUNTIME_ERROR);
  }
  ExpectRun(data_, 3, 0, -5, 7);
  call_.at(Argument::kValue) = lists[1];
}

TEST_F(Setters, MissesAreRefusedAndChangeNothing) {
  aclTensor* foreign = MakeAclTensor({1, 1, 1, kTwoKeysDim}, ACL_FLOAT16, other_.query.data());
  aclTensor* query = call_.tensor(Argument::kQuery);
  aclTensor* out = call_.tensor(Argument::kAttentionOut);
  aclOpExecutor* executor = call_.executor;
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, foreign, other_.query.data()), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, nullptr, other_.query.data()), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, out, other_.out.data()), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 0, query, other_.out.data()), ACLNN_ERR_RUNTIME_ERROR);
  aclTensorList* keys = call_.list(Argument::kKey);
  EXPECT_EQ(aclSetDynamicInputTensorAddr(executor, 1, 1, keys, other_.key.data()), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetDynamicInputTensorAddr(executor, 1, SIZE_MAX, keys, other_.key.data()),
            ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(aclSetDynamicInputTensorAddr(executor, 1, 0, nullptr, other_.key.data()),
            ACLNN_ERR_RUNTIME_ERROR);
  ExpectRun(data_, 0, 1, 2, 4);
  aclDestroyTensor(foreign);
}

TEST_F(Setters, HandlesWorkAfterTheTensorsAreDestroyed) {
  aclDestroyTensorList(call_.list(Argument::kKey));
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 1, call_.key_tensor, other_.key.data()), ACL_SUCCESS);
  ExpectRun(data_, 3, 0, 2, 4);
  EXPECT_EQ(aclSetRawTensorAddr(call_.key_tensor, data_.key.data()), ACLNN_ERR_RUNTIME_ERROR);
  ExpectRun(data_, 3, 0, 2, 4);
}

TEST_F(Setters, RawAddressesReachEveryLiveExecutorAndLaterOnes) {
  aclOpExecutor* first = call_.executor;
  call_.executor = nullptr;
  Plan();
  aclOpExecutor* second = call_.executor;
  EXPECT_EQ(aclSetInputTensorAddr(first, 2, call_.value_tensor, data_.value.data()), ACL_SUCCESS);
  EXPECT_EQ(aclSetRawTensorAddr(call_.value_tensor, other_.value.data()), ACL_SUCCESS);
  for (aclOpExecutor* executor : {first, second}) {
    call_.executor = executor;
    ExpectRun(data_, 0, 1, -5, 7);
  }
  // An address set on one executor holds for it alone.
  EXPECT_EQ(aclSetInputTensorAddr(first, 2, call_.value_tensor, data_.value.data()), ACL_SUCCESS);
  call_.executor = first;
  ExpectRun(data_, 0, 1, 2, 4);
  aclDestroyAclOpExecutor(first);
  call_.executor = second;
  ExpectRun(data_, 0, 1, -5, 7);
  Plan();
  ExpectRun(data_, 0, 1, -5, 7);
}

TEST_F(Setters, ArgumentsThatAreNotLookedAtMayBeSet) {
  EXPECT_EQ(aclSetOutputTensorAddr(call_.executor, 1, call_.tensor(Argument::kSoftmaxLse), nullptr),
            ACL_SUCCESS);
  ExpectRun(data_, 0, 1, 2, 4);
}

TEST_F(Setters, TheOffsetOfTheTensorStays) {
  std::vector<op::fp16_t> far(data_.value.size() + 3), other_far(far.size() + 3);
  std::copy(data_.value.begin(), data_.value.end(), far.begin() + 3);
  std::copy(other_.value.begin(), other_.value.end(), other_far.begin() + 3);
  const std::int64_t dims[] = {1, 1, 2, kTwoKeysDim};
  aclTensor* value = aclCreateTensor(dims, 4, ACL_FLOAT16, nullptr, 3, ACL_FORMAT_ND, dims, 4, far.data());
  aclTensorList* values = aclCreateTensorList(&value, 1);
  call_.at(Argument::kValue) = values;
  Plan();
  ExpectRun(data_, 0, 1, 2, 4);
  EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 2, value, other_far.data()), ACL_SUCCESS);
  ExpectRun(data_, 0, 1, -5, 7);
  EXPECT_EQ(aclSetRawTensorAddr(value, far.data()), ACL_SUCCESS);
  ExpectRun(data_, 0, 1, 2, 4);
  aclDestroyTensorList(values);
}

// While one thread points tensors elsewhere, others plan and run: each run reads old or new numbers, and what
// was set last holds at the end.
TEST_F(Setters, AddressesMayChangeWhileOthersPlanAndRun) {
  std::atomic<bool> stop{false};
  std::thread setter([&] {
    for (int round = 0; !stop; ++round) {
      TwoKeys& numbers = round % 2 == 0 ? other_ : data_;
      EXPECT_EQ(aclSetRawTensorAddr(call_.value_tensor, numbers.value.data()), ACL_SUCCESS);
      EXPECT_EQ(aclSetInputTensorAddr(call_.executor, 1, call_.key_tensor, data_.key.data()), ACL_SUCCESS);
    }
  });
  TwoKeys planner_data(0, 1, 0, 0);
  OperatorCall planner(&planner_data);
  const void* own_values = planner.at(Argument::kValue);
  planner.at(Argument::kValue) = call_.at(Argument::kValue);
  const auto ran_on_either = [](const TwoKeys& out) {
    return OutputIs(out, 0, 1, 2, 4) || OutputIs(out, 0, 1, -5, 7);
  };
  for (int round = 0; round < 500; ++round) {
    ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
    ASSERT_TRUE(ran_on_either(data_));
    ASSERT_EQ(planner.PhaseOne(), ACL_SUCCESS);
    ASSERT_EQ(planner.PhaseTwo(), ACL_SUCCESS);
    ASSERT_TRUE(ran_on_either(planner_data));
  }
  stop = true;
  setter.join();
  EXPECT_EQ(aclSetRawTensorAddr(call_.value_tensor, other_.value.data()), ACL_SUCCESS);
  ExpectRun(data_, 0, 1, -5, 7);
  planner.at(Argument::kValue) = own_values;
}

// A batch of two sequences, each its own key and value tensor.
TEST(ListSetters, MembersAreSetOneByOne) {
  TwoKeys first(0, 1, 2, 4), second(1, 0, 6, 8), other(3, 0, -5, 7);
  OperatorCall call(&first);
  std::vector<op::fp16_t> query(2 * kTwoKeysDim, op::fp16_t(1.0f / 64)), out(query.size());
  const std::vector<std::int64_t> dims = {1, 1, 2, kTwoKeysDim}, query_dims = {2, 1, 1, kTwoKeysDim};
  aclTensor* keys[] = {MakeAclTensor(dims, ACL_FLOAT16, first.key.data()),
                       MakeAclTensor(dims, ACL_FLOAT16, second.key.data())};
  aclTensor* values[] = {MakeAclTensor(dims, ACL_FLOAT16, first.value.data()),
                         MakeAclTensor(dims, ACL_FLOAT16, second.value.data())};
  aclTensorList* key_list = aclCreateTensorList(keys, 2);
  aclTensorList* value_list = aclCreateTensorList(values, 2);
  aclTensor* query_tensor = MakeAclTensor(query_dims, ACL_FLOAT16, query.data());
  aclTensor* out_tensor = MakeAclTensor(query_dims, ACL_FLOAT16, out.data());
  call.at(Argument::kQuery) = query_tensor;
  call.at(Argument::kKey) = key_list;
  call.at(Argument::kValue) = value_list;
  call.at(Argument::kAttentionOut) = out_tensor;
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  aclSetAclOpExecutorRepeatable(call.executor);

  const auto sequence_is = [&](int sequence, double k0, double k1, double v0, double v1) {
    TwoKeys result;
    std::copy_n(out.begin() + sequence * kTwoKeysDim, kTwoKeysDim, result.out.begin());
    return OutputIs(result, k0, k1, v0, v1);
  };
  ASSERT_EQ(call.PhaseTwo(), ACL_SUCCESS);
  EXPECT_TRUE(sequence_is(0, 0, 1, 2, 4));
  EXPECT_TRUE(sequence_is(1, 1, 0, 6, 8));

  EXPECT_EQ(aclSetDynamicInputTensorAddr(call.executor, 2, 1, value_list, other.value.data()), ACL_SUCCESS);
  ASSERT_EQ(call.PhaseTwo(), ACL_SUCCESS);
  EXPECT_TRUE(sequence_is(0, 0, 1, 2, 4));
  EXPECT_TRUE(sequence_is(1, 1, 0, -5, 7));

  // The list itself stands for its first member; a member's own handle finds that member.
  EXPECT_EQ(aclSetInputTensorAddr(call.executor, 1, reinterpret_cast<aclTensor*>(key_list), other.key.data()),
            ACL_SUCCESS);
  EXPECT_EQ(aclSetInputTensorAddr(call.executor, 2, values[1], first.value.data()), ACL_SUCCESS);
  // The list was given for one argument only: its index need not be right.
  EXPECT_EQ(aclSetDynamicTensorAddr(call.executor, 0, 1, key_list, first.key.data()), ACL_SUCCESS);
  ASSERT_EQ(call.PhaseTwo(), ACL_SUCCESS);
  EXPECT_TRUE(sequence_is(0, 3, 0, 2, 4));
  EXPECT_TRUE(sequence_is(1, 0, 1, 2, 4));

  aclDestroyAclOpExecutor(call.executor);
  aclDestroyTensorList(key_list);
  aclDestroyTensorList(value_list);
  aclDestroyTensor(query_tensor);
  aclDestroyTensor(out_tensor);
}

}  // namespace
}  // namespace fia::testing
