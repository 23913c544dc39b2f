// Calls that must be refused, with the parameter and the reason named, beside calls that must be accepted.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/call_check.h"
#include "support/judge.h"

namespace fia::testing {
namespace {

// Refused with that rule, and the message holds every one of `words`.
void ExpectRefusal(const AttentionParams& params, const char* rule, const std::vector<std::string>& words) {
  const ::testing::AssertionResult refused = IsRefused(params, StatusCode::kTilingError, rule);
  ASSERT_TRUE(refused);
  const std::string message = refused.message();
  for (const std::string& word : words)
    EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is not in: " << message;
}

TEST(KnownRefusal, BiasWithoutAHeadAxis) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 12;
  spec.kv_lengths = {256};
  BuiltCall call(spec);
  std::vector<std::uint16_t> bias(256, 0);
  call.mutable_params()->scores.pse_shift =
      TensorView::Contiguous(bias.data(), DataType::kFloat16, {1, 1, 1, 256});
  ExpectRefusal(call.params(), "pse", {"pseShift", "12", "256"});
}

TEST(KnownRefusal, KvLengthsThatAreNeitherOneNorEnough) {
  CallSpec spec;
  spec.query_lengths.assign(16, 1);
  spec.kv_lengths.assign(16, 20);
  for (const std::size_t count : {1, 9, 16, 20}) {
    BuiltCall call(spec);
    call.mutable_params()->lengths->key_value.assign(count, 20);
    if (count == 9) {
      ExpectRefusal(call.params(), "lengths", {"actualSeqLengthsKv", "9", "16"});
    } else {
      EXPECT_TRUE(CallMatches(call)) << count;
    }
  }
}

TEST(KnownRefusal, NegativeLength) {
  CallSpec spec;
  spec.query_lengths = {1, 1};
  spec.kv_lengths = {20, 20};
  BuiltCall call(spec);
  call.mutable_params()->lengths->key_value = {-294, 5};
  ExpectRefusal(call.params(), "lengths", {"actualSeqLengthsKv", "-294"});
}

TEST(KnownRefusal, HeadsThatTheTensorDoesNotHave) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 5;
  spec.head_dim = spec.value_dim = 128;
  spec.query_lengths = {64};
  spec.kv_lengths = {64};
  BuiltCall call(spec);
  call.mutable_params()->heads.num_heads = 20;
  ExpectRefusal(call.params(), "heads", {"numHeads", "20", "5"});
}

TEST(KnownRefusal, ValueOfAnotherLengthIsRefusedBeforeAnythingIsRead) {
  for (const std::int64_t length : {6, 4000000}) {
    CallSpec spec;
    spec.kv_lengths = {5};
    BuiltCall call(spec);
    TensorView& value = call.mutable_params()->value[0];
    value.dims[2] = length;
    value.SetRowMajorStrides();
    ExpectRefusal(call.params(), "shape", {"value"});
  }
}

TEST(KnownRefusal, MasksOfModes2To4AtDecode) {
  CallSpec spec;
  spec.query_lengths = {1, 1, 1};
  spec.kv_lengths = {300, 300, 300};
  std::vector<std::uint8_t> ones(2048 * 2048, 1);
  BuiltCall call(spec);
  call.mutable_params()->mask->tensor = TensorView::Contiguous(ones.data(), DataType::kBool, {1, 2048, 2048});
  ExpectRefusal(call.params(), "mask", {"attenMask", "2048"});
}

TEST(KnownRefusal, DecodeLooksAtNeitherQueryLengthsNorMode) {
  CallSpec spec;
  spec.query_lengths = {1, 1, 1};
  spec.kv_lengths = {30, 30, 30};
  BuiltCall call(spec);
  call.mutable_params()->lengths->query = {1, 2, 3};
  EXPECT_TRUE(CallMatches(call));
  call.mutable_params()->mask->sparse_mode = 3;
  call.mutable_params()->mask->next_tokens = -7;
  EXPECT_TRUE(CallMatches(call));
}

TEST(KnownRefusal, NothingToComputeIsSuccess) {
  std::vector<std::uint16_t> memory(1, 0);
  const auto view = [&memory](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return TensorView::Contiguous(memory.data(), DataType::kFloat16, {a, b, c, d});
  };
  AttentionParams params;
  params.heads = {"BNSD", 9, 7};
  params.query = params.attention_out = view(7, 9, 0, 64);
  params.key = params.value = {view(7, 7, 0, 64)};
  params.mask.emplace().sparse_mode = 3;
  EXPECT_TRUE(RunCall(params).ok());
  params.query = params.attention_out = view(0, 10, 3952, 64);
  params.key = params.value = {view(0, 10, 3952, 64)};
  EXPECT_TRUE(RunCall(params).ok());
}

TEST(KnownRefusal, NoKeysAtAllGivesZerosAndInfiniteLse) {
  CallSpec spec;
  spec.query_lengths = {3, 2};
  spec.kv_lengths = {0, 0};
  spec.kv_form = LengthsForm::kAbsent;
  spec.query_form = LengthsForm::kEach;
  EXPECT_TRUE(CallMatches(spec));
}

}  // namespace
}  // namespace fia::testing
