// Phase one: what it refuses, in which order, and what it says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/operator_call.h"
#include "aclnnop/aclnn_fused_infer_attention_score.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v3.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"

namespace fia::testing {
namespace {

::testing::AssertionResult Says(const char* words) {
  const char* text = aclGetRecentErrMsg();
  if (text == nullptr) return ::testing::AssertionFailure() << "the error text is null";
  if (std::strchr(text, '\n') != nullptr)
    return ::testing::AssertionFailure() << "more than one line: " << text;
  if (std::strstr(text, words) != nullptr) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not say " << words;
}

class PhaseOne : public ::testing::Test {
 protected:
  // Phase one refuses with that code, gives nothing out and says `words`.
  void ExpectRefused(aclnnStatus code, const char* words) {
    call_.workspace_size = 77;
    call_.executor = reinterpret_cast<aclOpExecutor*>(&data_);
    EXPECT_EQ(call_.PhaseOne(), code) << words;
    EXPECT_EQ(call_.workspace_size, 0u);
    EXPECT_EQ(call_.executor, nullptr);
    EXPECT_TRUE(Says(words));
    call_.executor = nullptr;
  }

  void ExpectAccepted() {
    EXPECT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_STREQ(aclGetRecentErrMsg(), "");
    EXPECT_EQ(aclDestroyAclOpExecutor(call_.executor), ACL_SUCCESS);
    call_.executor = nullptr;
  }

  TwoKeys data_{0, 1, 2, 4};
  OperatorCall call_{&data_};
};

TEST_F(PhaseOne, RequiredArgumentsMayNotBeNull) {
  const struct {
    Argument argument;
    const char* name;
  } rows[] = {{Argument::kQuery, "query"},
              {Argument::kKey, "key"},
              {Argument::kValue, "value"},
              {Argument::kAttentionOut, "attentionOut"}};
  for (const auto& row : rows) {
    const void* kept = call_.at(row.argument);
    call_.at(row.argument) = nullptr;
    ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, row.name);
    call_.at(row.argument) = kept;
  }
  ExpectAccepted();
}

TEST_F(PhaseOne, ResultPointersMayNotBeNull) {
  const auto phase_one = [this](std::uint64_t* size, aclOpExecutor** executor) {
    char layout[] = "BNSD";
    return aclnnFusedInferAttentionScoreGetWorkspaceSize(
        call_.tensor(Argument::kQuery), call_.list(Argument::kKey), call_.list(Argument::kValue), nullptr,
        nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        nullptr, nullptr, 1, 1.0, 0, 0, layout, 0, 0, 0, 0, 0, false, call_.tensor(Argument::kAttentionOut),
        nullptr, size, executor);
  };
  std::uint64_t size = 5;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(phase_one(nullptr, &executor), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_TRUE(Says("workspaceSize"));
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(phase_one(&size, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_TRUE(Says("executor"));
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(phase_one(&size, &executor), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
}

TEST_F(PhaseOne, DestroyedArgumentsAreAsGoodAsNull) {
  aclTensor* gone = MakeAclTensor({1, 1}, ACL_INT32, &data_);
  aclDestroyTensor(gone);
  aclIntArray* gone_array = aclCreateIntArray(nullptr, 0);
  aclDestroyIntArray(gone_array);
  call_.at(Argument::kBlockTable) = gone;
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "blockTable");
  call_.at(Argument::kBlockTable) = nullptr;
  call_.at(Argument::kActualSeqLengths) = gone_array;
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "actualSeqLengths");
  call_.at(Argument::kActualSeqLengths) = nullptr;
  // These are not looked at.
  call_.at(Argument::kKeyRopeAntiquantScale) = gone;
  call_.at(Argument::kSoftmaxLse) = gone;
  ExpectAccepted();
  call_.softmax_lse = true;
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "softmaxLse");
}

TEST_F(PhaseOne, ListsMayNotBeEmptyNorHoldNullOrDestroyedMembers) {
  const aclTensorList* kept = call_.list(Argument::kKey);
  aclTensorList* empty = aclCreateTensorList(nullptr, 0);
  call_.at(Argument::kKey) = empty;
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "key");
  const aclTensor* members[] = {call_.key_tensor, nullptr};
  aclTensorList* with_null = aclCreateTensorList(members, 2);
  call_.at(Argument::kKey) = with_null;
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "key");
  call_.at(Argument::kKey) = kept;
  aclDestroyTensorList(empty);
  ExpectAccepted();
  aclDestroyTensor(call_.value_tensor);
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "value");
  aclDestroyTensorList(with_null);
  ExpectRefused(ACLNN_ERR_PARAM_NULLPTR, "key");
}

TEST_F(PhaseOne, ATensorMayBeInTwoListsAndAListServeTwice) {
  aclTensorList* second = aclCreateTensorList(&call_.key_tensor, 1);
  const void* kept = call_.at(Argument::kValue);
  for (const void* value : {static_cast<const void*>(second), call_.at(Argument::kKey)}) {
    call_.at(Argument::kValue) = value;
    ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
    EXPECT_TRUE(OutputIs(data_, 0, 1, 0, 1));
  }
  call_.at(Argument::kValue) = kept;
  aclDestroyTensorList(second);
}

TEST_F(PhaseOne, LayoutsMayBeAnything) {
  call_.null_layout = true;
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "inputLayout");
  EXPECT_TRUE(Says("null"));
  call_.null_layout = false;
  for (const char* layout : {"", "bnsd", "BNSD ", "BNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSDBNSD"}) {
    call_.layout = layout;
    ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "inputLayout");
  }
  call_.layout = std::string(1 << 20, 'B');
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "inputLayout");
}

TEST_F(PhaseOne, OffsetsThatAreNoAddressesAreRefused) {
  const std::int64_t dims[] = {1, 1, 1, kTwoKeysDim};
  for (const std::int64_t offset : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
    aclTensor* query =
        aclCreateTensor(dims, 4, ACL_FLOAT16, nullptr, offset, ACL_FORMAT_ND, dims, 4, data_.query.data());
    call_.at(Argument::kQuery) = query;
    ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "query");
    aclDestroyTensor(query);
  }
}

// Two int4 elements a byte: a view may begin at an even element only.
TEST_F(PhaseOne, Int4ViewsBeginAtWholeBytes) {
  const std::int64_t dims[] = {1, 1, 2, kTwoKeysDim};
  std::vector<unsigned char> packed(kTwoKeysDim + 1);
  const void* kept = call_.at(Argument::kKey);
  const auto refused_for_offset = [&](std::int64_t offset) {
    aclTensor* cache =
        aclCreateTensor(dims, 4, ACL_INT4, nullptr, offset, ACL_FORMAT_ND, dims, 4, packed.data());
    aclTensorList* list = aclCreateTensorList(&cache, 1);
    call_.at(Argument::kKey) = list;
    ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "key");  // at the latest because the value is no int4
    aclDestroyTensorList(list);
    return Says("offset");
  };
  EXPECT_TRUE(refused_for_offset(1));
  EXPECT_FALSE(refused_for_offset(2));
  call_.at(Argument::kKey) = kept;
}

TEST_F(PhaseOne, ManyDimsAreNamedNotRead) {
  const std::vector<std::int64_t> dims(9, 1);
  aclTensor* query = MakeAclTensor(dims, ACL_FLOAT16, data_.query.data());
  call_.at(Argument::kQuery) = query;
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "query");
  aclDestroyTensor(query);
}

TEST_F(PhaseOne, UnknownTypesAndFormatsAreRefusedByName) {
  const std::int64_t dims[] = {1, 1, 1, kTwoKeysDim};
  aclTensor* typed = aclCreateTensor(dims, 4, ACL_COMPLEX64, nullptr, 0, ACL_FORMAT_ND, dims, 4, &data_);
  aclTensor* formatted =
      aclCreateTensor(dims, 4, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_NC1HWC0, dims, 4, &data_);
  aclTensor* wild =
      aclCreateTensor(dims, 4, static_cast<aclDataType>(1 << 30), nullptr, 0, ACL_FORMAT_ND, dims, 4, &data_);
  for (aclTensor* query : {typed, formatted, wild}) {
    call_.at(Argument::kQuery) = query;
    ExpectRefused(ACLNN_ERR_PARAM_INVALID, "query");
    aclDestroyTensor(query);
  }
}

TEST_F(PhaseOne, LseIsNeededWhenAskedFor) {
  const void* kept = call_.at(Argument::kSoftmaxLse);
  call_.at(Argument::kSoftmaxLse) = nullptr;
  ExpectAccepted();
  call_.softmax_lse = true;
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "softmaxLse");
  call_.at(Argument::kSoftmaxLse) = kept;
  ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
  EXPECT_NEAR(data_.lse[0], std::log(1 + std::exp(1.0)), 1e-5);
}

TEST_F(PhaseOne, TheEnvironmentSaysHowStrictlyToCheck) {
  std::vector<float> query(kTwoKeysDim), key(2 * kTwoKeysDim), out(kTwoKeysDim);
  aclTensor* tensors[] = {MakeAclTensor({1, 1, 1, kTwoKeysDim}, ACL_FLOAT, query.data()),
                          MakeAclTensor({1, 1, 1, kTwoKeysDim}, ACL_FLOAT, out.data())};
  aclTensor* cache = MakeAclTensor({1, 1, 2, kTwoKeysDim}, ACL_FLOAT, key.data());
  aclTensorList* list = aclCreateTensorList(&cache, 1);
  call_.at(Argument::kQuery) = tensors[0];
  call_.at(Argument::kKey) = call_.at(Argument::kValue) = list;
  call_.at(Argument::kAttentionOut) = tensors[1];
  // float32 is offered in relaxed only.
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "query");
  setenv("FIA_CHECK", "relaxed", 1);
  ExpectAccepted();
  setenv("FIA_CHECK", "anything", 1);
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "query");
  unsetenv("FIA_CHECK");
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  aclDestroyTensorList(list);
}

TEST_F(PhaseOne, ArraysAreCopiedAndEmptyOnesCountAsNone) {
  std::int64_t length = 1;
  aclIntArray* one = aclCreateIntArray(&length, 1);
  aclIntArray* none = aclCreateIntArray(nullptr, 0);
  length = 2;
  call_.at(Argument::kActualSeqLengthsKv) = one;
  ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
  EXPECT_TRUE(OutputIs(data_, 0, 1, 2, 2));  // key 0 alone
  call_.at(Argument::kActualSeqLengthsKv) = none;
  ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
  EXPECT_TRUE(OutputIs(data_, 0, 1, 2, 4));
  aclDestroyIntArray(one);
  aclDestroyIntArray(none);
}

TEST_F(PhaseOne, ErrorTextsBelongToTheirThread) {
  call_.layout = "nonsense";
  ExpectRefused(ACLNN_ERR_INNER_TILING_ERROR, "inputLayout");
  std::thread([] { EXPECT_STREQ(aclGetRecentErrMsg(), ""); }).join();
  // Other functions leave the text alone; the next phase replaces it.
  aclDestroyAclOpExecutor(nullptr);
  aclDestroyTensor(MakeAclTensor({1}, ACL_FLOAT, nullptr));
  EXPECT_TRUE(Says("inputLayout"));
  EXPECT_EQ(call_.PhaseTwo(nullptr), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_TRUE(Says("executor"));
  call_.layout = "BNSD";
  ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS);
  EXPECT_STREQ(aclGetRecentErrMsg(), "");
  EXPECT_EQ(call_.PhaseTwo(), ACL_SUCCESS);
  EXPECT_STREQ(aclGetRecentErrMsg(), "");
}

TEST_F(PhaseOne, WorkspaceIsCheckedInPhaseTwo) {
  ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS);
  if (call_.workspace_size > 0) {
    EXPECT_EQ(aclnnFusedInferAttentionScoreV4(nullptr, call_.workspace_size, call_.executor, nullptr),
              ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_TRUE(Says("workspace"));
    ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS);
    std::vector<unsigned char> small(call_.workspace_size - 1);
    EXPECT_EQ(aclnnFusedInferAttentionScoreV4(small.data(), small.size(), call_.executor, nullptr),
              ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_TRUE(Says("workspace"));
    EXPECT_EQ(data_.out[0].toFloat(), -1000.0f);
    ASSERT_EQ(call_.PhaseOne(), ACL_SUCCESS);
  }
  std::vector<unsigned char> large(call_.workspace_size + 100);
  EXPECT_EQ(aclnnFusedInferAttentionScoreV4(large.data() + 1, large.size() - 1, call_.executor, nullptr),
            ACL_SUCCESS);
  EXPECT_TRUE(OutputIs(data_, 0, 1, 2, 4));
}

TEST_F(PhaseOne, EarlierVersionsAreTheSameOperator) {
  char layout[] = "BNSD";
  const aclTensor* none = nullptr;
  const aclIntArray* no_lengths = nullptr;
  const aclTensor* query = call_.tensor(Argument::kQuery);
  const aclTensorList* key = call_.list(Argument::kKey);
  const aclTensorList* value = call_.list(Argument::kValue);
  const aclTensor* out = call_.tensor(Argument::kAttentionOut);
  const aclTensor* lse = call_.tensor(Argument::kSoftmaxLse);
  std::uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const auto run = [&](aclnnStatus (*phase_two)(void*, std::uint64_t, aclOpExecutor*, aclrtStream)) {
    std::fill(data_.out.begin(), data_.out.end(), op::fp16_t(-1000));
    data_.lse[0] = 0;
    std::vector<unsigned char> workspace(size);
    EXPECT_EQ(phase_two(workspace.data(), size, executor, nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_TRUE(OutputIs(data_, 0, 2, 2, 4));
    EXPECT_NEAR(data_.lse[0], std::log(1 + std::exp(2.0)), 1e-5);
  };
  ASSERT_EQ(aclnnFusedInferAttentionScoreGetWorkspaceSize(query, key, value, none, none, no_lengths,
                                                          no_lengths, none, none, none, none, none, none,
                                                          none, none, none, none, 1, 2.0, 7, 7, layout, 1, 0,
                                                          1, 0, 0, true, out, lse, &size, &executor),
            ACL_SUCCESS)
      << aclGetRecentErrMsg();
  run(aclnnFusedInferAttentionScore);
  ASSERT_EQ(aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
                query, key, value, none, none, no_lengths, no_lengths, none, none, none, none, none, none,
                none, none, none, none, none, none, none, none, none, none, no_lengths, 1, 2.0, 7, 7, layout,
                1, 0, 1, 0, 0, true, 0, 0, out, lse, &size, &executor),
            ACL_SUCCESS)
      << aclGetRecentErrMsg();
  run(aclnnFusedInferAttentionScoreV2);
  ASSERT_EQ(aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
                query, key, value, none, none, no_lengths, no_lengths, none, none, none, none, none, none,
                none, none, none, none, none, none, none, none, none, none, no_lengths, none, none, none, 1,
                2.0, 7, 7, layout, 1, 0, 1, 0, 0, true, 0, 0, out, lse, &size, &executor),
            ACL_SUCCESS)
      << aclGetRecentErrMsg();
  run(aclnnFusedInferAttentionScoreV3);
}

}  // namespace
}  // namespace fia::testing
