#include "aclnn/operator_call.h"

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"

namespace fia::testing {
namespace {

constexpr std::size_t kDim = static_cast<std::size_t>(kTwoKeysDim);

std::vector<op::fp16_t> TwoRows(float first, float second) {
  std::vector<op::fp16_t> rows(2 * kDim, op::fp16_t(first));
  std::fill(rows.begin() + kTwoKeysDim, rows.end(), op::fp16_t(second));
  return rows;
}

}  // namespace

aclTensor* MakeAclTensor(const std::vector<std::int64_t>& dims, aclDataType dtype, void* data) {
  return aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(), dims.size(),
                         data);
}

TwoKeys::TwoKeys(float k0, float k1, float v0, float v1)
    : query(kDim, op::fp16_t(1.0f / 64)),
      key(TwoRows(k0, k1)),
      value(TwoRows(v0, v1)),
      out(kDim, op::fp16_t(-1000)) {}

OperatorCall::OperatorCall(TwoKeys* data) {
  at(Argument::kQuery) = MakeAclTensor({1, 1, 1, kTwoKeysDim}, ACL_FLOAT16, data->query.data());
  key_tensor = MakeAclTensor({1, 1, 2, kTwoKeysDim}, ACL_FLOAT16, data->key.data());
  value_tensor = MakeAclTensor({1, 1, 2, kTwoKeysDim}, ACL_FLOAT16, data->value.data());
  at(Argument::kKey) = aclCreateTensorList(&key_tensor, 1);
  at(Argument::kValue) = aclCreateTensorList(&value_tensor, 1);
  at(Argument::kAttentionOut) = MakeAclTensor({1, 1, 1, kTwoKeysDim}, ACL_FLOAT16, data->out.data());
  at(Argument::kSoftmaxLse) = MakeAclTensor({1, 1, 1, 1}, ACL_FLOAT, data->lse);
  owned_tensors_ = {tensor(Argument::kQuery), tensor(Argument::kAttentionOut), tensor(Argument::kSoftmaxLse)};
  owned_lists_ = {list(Argument::kKey), list(Argument::kValue)};
}

OperatorCall::~OperatorCall() {
  for (const aclTensorList* owned : owned_lists_) aclDestroyTensorList(owned);
  for (const aclTensor* owned : owned_tensors_) aclDestroyTensor(owned);
}

aclnnStatus OperatorCall::PhaseOne() {
  const auto t = [this](Argument argument) { return static_cast<const aclTensor*>(at(argument)); };
  const auto a = [this](Argument argument) { return static_cast<const aclIntArray*>(at(argument)); };
  return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
      t(Argument::kQuery), list(Argument::kKey), list(Argument::kValue), t(Argument::kPseShift),
      t(Argument::kAttenMask), a(Argument::kActualSeqLengths), a(Argument::kActualSeqLengthsKv),
      t(Argument::kDeqScale1), t(Argument::kQuantScale1), t(Argument::kDeqScale2), t(Argument::kQuantScale2),
      t(Argument::kQuantOffset2), t(Argument::kAntiquantScale), t(Argument::kAntiquantOffset),
      t(Argument::kBlockTable), t(Argument::kQueryPaddingSize), t(Argument::kKvPaddingSize),
      t(Argument::kKeyAntiquantScale), t(Argument::kKeyAntiquantOffset), t(Argument::kValueAntiquantScale),
      t(Argument::kValueAntiquantOffset), t(Argument::kKeySharedPrefix), t(Argument::kValueSharedPrefix),
      a(Argument::kActualSharedPrefixLen), t(Argument::kQueryRope), t(Argument::kKeyRope),
      t(Argument::kKeyRopeAntiquantScale), t(Argument::kDequantScaleQuery), t(Argument::kLearnableSink),
      num_heads, scale, pre_tokens, next_tokens, null_layout ? nullptr : layout.data(), num_kv_heads,
      sparse_mode, inner_precise, block_size, antiquant_mode, softmax_lse, key_antiquant_mode,
      value_antiquant_mode, query_quant_mode, t(Argument::kAttentionOut), t(Argument::kSoftmaxLse),
      &workspace_size, &executor);
}

aclnnStatus OperatorCall::PhaseTwo() { return PhaseTwo(executor); }

aclnnStatus OperatorCall::PhaseTwo(aclOpExecutor* any) {
  workspace_.resize(workspace_size);
  return aclnnFusedInferAttentionScoreV4(workspace_.data(), workspace_size, any, nullptr);
}

::testing::AssertionResult OutputIs(const TwoKeys& data, double k0, double k1, double v0, double v1) {
  const double expected = (std::exp(k0) * v0 + std::exp(k1) * v1) / (std::exp(k0) + std::exp(k1));
  const double allowed = 1e-3 * (std::abs(v0) + std::abs(v1)) + 1e-6;
  for (std::size_t d = 0; d < kDim; ++d) {
    const double got = data.out[d].toDouble();
    if (!(std::abs(got - expected) <= allowed)) {
      return ::testing::AssertionFailure() << "element " << d << " is " << got << ", expected " << expected;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace fia::testing
