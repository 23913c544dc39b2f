// Every argument of every version of the operator arrives where it belongs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/call_arguments.h"
#include "aclnn/operator_call.h"
#include "aclnnop/aclnn_fused_infer_attention_score.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v3.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "core/arguments.h"

namespace fia::testing {
namespace {

// The arguments of a version before the results, in order. An empty name: not to be tested.
using Names = std::vector<std::string>;

Names TensorNames(int count) {
  Names names;
  for (int number = 0; number < count; ++number) names.push_back(ArgumentName(static_cast<Argument>(number)));
  return names;
}

Names Joined(Names names, const Names& attributes) {
  names.insert(names.end(), attributes.begin(), attributes.end());
  names.insert(names.end(), {"attentionOut", ""});
  return names;
}

// preTokens, nextTokens and sparseMode are not looked at in decode, blockSize and the antiquant modes not
// without their tensors.
const Names kAttributesV1 = {"numHeads", "scaleValue",   "", "", "inputLayout", "numKeyValueHeads",
                             "",         "innerPrecise", "", "", "softmaxLse"};

Names AttributesV2() {
  Names names = kAttributesV1;
  names.insert(names.end(), {"", ""});
  return names;
}

Names AttributesV4() {
  Names names = AttributesV2();
  names.push_back("queryQuantMode");
  return names;
}

Names NamesV4() {
  Names names = TensorNames(29);
  names[26] = "";  // keyRopeAntiquantScale is not looked at
  return Joined(names, AttributesV4());
}

Names NamesV3() {
  Names names = TensorNames(27);
  names[26] = "";
  return Joined(names, AttributesV2());
}

// A wrong value for a parameter: a handle that was destroyed, a number that no attribute may be.
template <typename T>
void Spoil(T* value, const void* destroyed) {
  if constexpr (std::is_same_v<T, bool>) {
    *value = true;  // lse asked for without a tensor
  } else if constexpr (std::is_same_v<T, double>) {
    *value = std::nan("");
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    *value = -9;
  } else if constexpr (std::is_same_v<T, char*>) {
    *value = nullptr;
  } else if constexpr (std::is_pointer_v<T> && std::is_const_v<std::remove_pointer_t<T>>) {
    *value = static_cast<T>(destroyed);
  }
}

template <typename... Parameters>
class Version {
 public:
  using Function = aclnnStatus (*)(Parameters...);

  Version(Function phase_one, Names names) : phase_one_(phase_one), names_(std::move(names)) {}

  void CheckAll() {
    // All parameters but workspaceSize and executor.
    ASSERT_EQ(names_.size(), sizeof...(Parameters) - 2);
    ASSERT_EQ(Call(-1), ACL_SUCCESS) << aclGetRecentErrMsg();
    for (std::size_t position = 0; position < names_.size(); ++position) {
      if (names_[position].empty()) continue;
      EXPECT_NE(Call(static_cast<int>(position)), ACL_SUCCESS) << names_[position];
      const std::string text = aclGetRecentErrMsg();
      EXPECT_EQ(text.substr(0, text.find(':')), names_[position]) << text;
    }
  }

 private:
  // The small call with the parameter at `wrong` spoilt; -1: none.
  aclnnStatus Call(int wrong) {
    TwoKeys data;
    OperatorCall call(&data);
    aclTensor* destroyed = MakeAclTensor({1}, ACL_FLOAT, nullptr);
    aclDestroyTensor(destroyed);
    std::uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    std::tuple<Parameters...> values;
    constexpr std::size_t kCount = sizeof...(Parameters);
    std::get<0>(values) = call.tensor(Argument::kQuery);
    std::get<1>(values) = call.list(Argument::kKey);
    std::get<2>(values) = call.list(Argument::kValue);
    std::get<kCount - 4>(values) = call.tensor(Argument::kAttentionOut);
    std::get<kCount - 2>(values) = &size;
    std::get<kCount - 1>(values) = &executor;
    int position = 0;
    std::apply(
        [&](auto&... value) {
          const auto set = [&](auto& parameter) {
            FillAttribute(position, &parameter);
            if (position++ == wrong) Spoil(&parameter, destroyed);
          };
          (set(value), ...);
        },
        values);
    const aclnnStatus status = std::apply(phase_one_, values);
    if (status == ACL_SUCCESS) aclDestroyAclOpExecutor(executor);
    return status;
  }

  template <typename T>
  void FillAttribute(int position, T* value) {
    if (static_cast<std::size_t>(position) >= names_.size()) return;
    if constexpr (std::is_same_v<T, char*>) *value = layout_;
    if constexpr (std::is_same_v<T, double>) *value = 1;
    if constexpr (std::is_same_v<T, std::int64_t>) *value = names_[position] == "numHeads" ? 1 : 0;
  }

  Function phase_one_;
  Names names_;
  char layout_[5] = "BNSD";
};

TEST(Versions, FirstTakesEachArgument) {
  Version(aclnnFusedInferAttentionScoreGetWorkspaceSize, Joined(TensorNames(17), kAttributesV1)).CheckAll();
}

TEST(Versions, SecondTakesEachArgument) {
  Version(aclnnFusedInferAttentionScoreV2GetWorkspaceSize, Joined(TensorNames(24), AttributesV2()))
      .CheckAll();
}

TEST(Versions, ThirdTakesEachArgument) {
  Version(aclnnFusedInferAttentionScoreV3GetWorkspaceSize, NamesV3()).CheckAll();
}

TEST(Versions, FourthTakesEachArgument) {
  Version(aclnnFusedInferAttentionScoreV4GetWorkspaceSize, NamesV4()).CheckAll();
}

TEST(Versions, EachTensorGoesToItsGroup) {
  aclnn::Handles handles;
  std::vector<aclTensor*> tensors;
  std::vector<aclIntArray*> arrays;
  std::vector<aclTensorList*> lists;
  for (int number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    aclTensor* tensor = MakeAclTensor({number + 100}, ACL_FLOAT, nullptr);
    tensors.push_back(tensor);
    handles.at[number] = tensor;
    const std::int64_t length = number + 100;
    if (argument == Argument::kKey || argument == Argument::kValue) {
      lists.push_back(aclCreateTensorList(&tensor, 1));
      handles.at[number] = lists.back();
    } else if (argument == Argument::kActualSeqLengths || argument == Argument::kActualSeqLengthsKv ||
               argument == Argument::kActualSharedPrefixLen) {
      arrays.push_back(aclCreateIntArray(&length, 1));
      handles.at[number] = arrays.back();
    }
  }
  aclnn::Attributes attributes;
  attributes.softmax_lse = true;
  aclnn::ReadCall call;
  ASSERT_TRUE(aclnn::ReadArguments(handles, attributes, &call).ok());
  int found = 0;
  for (int number = 0; number < kArgumentCount; ++number) {
    const TensorView* view = FindTensor(call.params, static_cast<Argument>(number));
    if (view == nullptr) continue;
    ++found;
    EXPECT_EQ(view->dims[0], number + 100) << ArgumentName(static_cast<Argument>(number));
  }
  EXPECT_EQ(found, 31 - 2 - 3 - 1);  // without lists, arrays and the one that is not looked at
  EXPECT_EQ(call.params.key.at(0).dims[0], 101);
  EXPECT_EQ(call.params.value.at(0).dims[0], 102);
  EXPECT_EQ(call.params.lengths->query, std::vector<std::int64_t>{105});
  EXPECT_EQ(call.params.lengths->key_value, std::vector<std::int64_t>{106});
  EXPECT_EQ(call.params.prefix->length, std::vector<std::int64_t>{123});
  for (aclTensorList* list : lists) aclDestroyTensorList(list);
  for (aclIntArray* array : arrays) aclDestroyIntArray(array);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

TEST(Versions, EachAttributeGoesToItsGroup) {
  TwoKeys data;
  OperatorCall small(&data);
  aclnn::Handles handles;
  for (const Argument argument :
       {Argument::kQuery, Argument::kKey, Argument::kValue, Argument::kAttentionOut}) {
    handles.at[static_cast<int>(argument)] = small.at(argument);
  }
  handles.at[static_cast<int>(Argument::kBlockTable)] = small.at(Argument::kQuery);
  handles.at[static_cast<int>(Argument::kKeyAntiquantScale)] = small.at(Argument::kQuery);
  const aclnn::Attributes attributes = {.num_heads = 1,
                                        .scale = 2,
                                        .pre_tokens = 3,
                                        .next_tokens = 4,
                                        .layout = "TND",
                                        .num_kv_heads = 5,
                                        .sparse_mode = 6,
                                        .inner_precise = 7,
                                        .block_size = 8,
                                        .antiquant_mode = 9,
                                        .softmax_lse = false,
                                        .key_antiquant_mode = 10,
                                        .value_antiquant_mode = 11,
                                        .query_quant_mode = 12};
  aclnn::ReadCall call;
  ASSERT_TRUE(aclnn::ReadArguments(handles, attributes, &call).ok());
  const AttentionParams& params = call.params;
  EXPECT_EQ(params.heads.num_heads, 1);
  EXPECT_EQ(params.scores.scale, 2);
  EXPECT_EQ(params.mask->pre_tokens, 3);
  EXPECT_EQ(params.mask->next_tokens, 4);
  EXPECT_EQ(params.heads.layout, "TND");
  EXPECT_EQ(params.heads.num_kv_heads, 5);
  EXPECT_EQ(params.mask->sparse_mode, 6);
  EXPECT_EQ(params.scores.inner_precise, 7);
  EXPECT_EQ(params.paged->block_size, 8);
  EXPECT_EQ(params.quantisation->kv_antiquant->mode, 9);
  EXPECT_FALSE(params.softmax_lse.has_value());
  EXPECT_EQ(params.quantisation->kv_antiquant->key_mode, 10);
  EXPECT_EQ(params.quantisation->kv_antiquant->value_mode, 11);
  EXPECT_EQ(params.quantisation->int8_mla->query_mode, 12);
  EXPECT_FALSE(params.quantisation->int8_flow || params.quantisation->int8_output);
  EXPECT_FALSE(params.prefix || params.padding || params.rope || params.lengths);
}

}  // namespace
}  // namespace fia::testing
