// Scales of the cache in every mode and shape, of the int8 flows and of the output.
#include <gtest/gtest.h>

#include "core/arguments.h"
#include "describe/describe.h"
#include "describe/hand_call.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kBlocks = 6, kBlockSize = 4, kDim = 8, kValueDim = 6;

// A scale's shape, with the letters of its axes: G is the axis of key and value, 1 an axis of one element, N
// the kv head, D the element, H heads and elements in one, B the sequence, S the position, K and O block and
// position in it.
struct ScaleCase {
  const char* name;
  const char* letters;
  std::int64_t mode;
  bool combined;
};

Letters ScaleSizes(std::int64_t dim, std::int64_t kv_heads) {
  return {{'G', 2}, {'1', 1}, {'N', kv_heads}, {'D', dim},
          {'B', 3}, {'S', 7}, {'K', kBlocks},  {'O', kBlockSize}};
}

// Byte of a scale from its normal form.
std::int64_t ByteAt(const KvScale& scale, const Letters& at) {
  const std::int64_t head_and_dim = at.at('N') * scale.head_stride + at.at('D') * scale.dim_stride;
  if (scale.paged) {
    return scale.offset + at.at('K') * scale.block_stride + at.at('O') * scale.token_stride + head_and_dim;
  }
  return scale.offset + at.at('B') * scale.batch_stride + at.at('S') * scale.token_stride + head_and_dim;
}

void ExpectScale(const KvScale& scale, const TensorView& view, const std::string& letters,
                 std::int64_t member, std::int64_t dim, std::int64_t kv_heads) {
  Letters at = {{'G', member}, {'1', 0}};
  for (at['N'] = 0; at['N'] < kv_heads; ++at['N']) {
    for (at['D'] = 0; at['D'] < dim; ++at['D']) {
      for (at['B'] = 0; at['B'] < 3; ++at['B']) {
        for (at['S'] = 0; at['S'] < 7; ++at['S']) {
          at['K'] = at['B'] + 2;
          at['O'] = at['S'] % kBlockSize;
          ASSERT_EQ(8 * ByteAt(scale, at), BitAt(view, letters, at, dim))
              << letters << " kv head " << at['N'] << " element " << at['D'] << " sequence " << at['B']
              << " position " << at['S'];
        }
      }
    }
  }
  EXPECT_EQ(scale.per_token, letters.find_first_of("SO") != std::string::npos);
  EXPECT_EQ(scale.per_channel, letters.find_first_of("DH") != std::string::npos);
  EXPECT_EQ(scale.paged, letters.find('K') != std::string::npos);
}

class AntiquantTest : public ::testing::TestWithParam<std::tuple<ScaleCase, std::int64_t>> {
 protected:
  HandCall Make(std::int64_t kv_heads, std::int64_t value_dim) {
    Facts facts;
    facts.query_axis = 1;
    facts.query_lengths = {1, 1, 1};
    facts.kv_heads = kv_heads;
    facts.value_dim = value_dim;
    HandCall made = MakeHandCall(facts);
    made.call.kv_dtype = DataType::kInt8;
    made.call.flow = Flow::kAntiquant;
    made.params.quantisation = Quantisation{};
    made.params.quantisation->kv_antiquant = KvAntiquant{};
    return made;
  }

  // A view of the case's shape with arbitrary strides.
  TensorView View(const ScaleCase& scale, std::int64_t dim, std::int64_t kv_heads) {
    TensorView view = ViewOf(scale.letters, ScaleSizes(dim, kv_heads),
                             scale.mode == 0 || scale.mode == 2 ? DataType::kFloat16 : DataType::kFloat32);
    if (std::string(scale.letters).find('H') != std::string::npos) {
      view.dims[view.rank - 1] = kv_heads * dim;
    }
    for (int axis = 0; axis < view.rank; ++axis) view.strides[axis] = 3 + 100 * axis;
    return view;
  }
};

TEST_P(AntiquantTest, EveryElementIsFound) {
  const auto& [scale, kv_heads] = GetParam();
  HandCall made = Make(kv_heads, scale.combined ? kDim : kValueDim);
  KvAntiquant& kv = *made.params.quantisation->kv_antiquant;
  const std::int64_t value_dim = made.call.value_dim;
  const TensorView key = View(scale, kDim, kv_heads), value = View(scale, value_dim, kv_heads);
  made.call.antiquant = scale.combined ? AntiquantSource::kCombined : AntiquantSource::kSeparate;
  if (scale.combined) {
    kv.scale = kv.offset = key;
    kv.mode = scale.mode;
  } else {
    kv.key_scale = kv.key_offset = key;
    kv.value_scale = kv.value_offset = value;
    kv.key_mode = kv.value_mode = scale.mode;
  }
  const Problem problem = Describe(made.params, made.call);
  for (const KvScale* part : {&problem.key_scale, &problem.key_offset}) {
    ExpectScale(*part, key, scale.letters, 0, kDim, kv_heads);
  }
  for (const KvScale* part : {&problem.value_scale, &problem.value_offset}) {
    ExpectScale(*part, value, scale.letters, 1, value_dim, kv_heads);
  }
  const auto slot = [](Argument argument) { return AddressSlot(argument, 0, 1); };
  EXPECT_EQ(problem.key_scale.slot,
            slot(scale.combined ? Argument::kAntiquantScale : Argument::kKeyAntiquantScale));
  EXPECT_EQ(problem.value_scale.slot,
            slot(scale.combined ? Argument::kAntiquantScale : Argument::kValueAntiquantScale));
  EXPECT_EQ(problem.key_offset.slot,
            slot(scale.combined ? Argument::kAntiquantOffset : Argument::kKeyAntiquantOffset));
  EXPECT_EQ(problem.value_offset.slot,
            slot(scale.combined ? Argument::kAntiquantOffset : Argument::kValueAntiquantOffset));
  EXPECT_EQ(problem.key_scale.dtype, key.dtype);
}

INSTANTIATE_TEST_SUITE_P(
    All, AntiquantTest,
    ::testing::Combine(
        ::testing::Values(ScaleCase{"tensor", "1", 0, false}, ScaleCase{"channel_1N1D", "1N1D", 0, false},
                          ScaleCase{"channel_11ND", "11ND", 0, false},
                          ScaleCase{"channel_1ND", "1ND", 0, false}, ScaleCase{"channel_1H", "1H", 0, false},
                          ScaleCase{"channel_N1D", "N1D", 0, false}, ScaleCase{"channel_ND", "ND", 0, false},
                          ScaleCase{"channel_H", "H", 0, false}, ScaleCase{"token_1BS", "1BS", 1, false},
                          ScaleCase{"token_BS", "BS", 1, false}, ScaleCase{"head_N", "N", 2, false},
                          ScaleCase{"token_head_1BNS", "1BNS", 3, false},
                          ScaleCase{"token_head_BNS", "BNS", 3, false}, ScaleCase{"paged_KO", "KO", 4, false},
                          ScaleCase{"paged_KNO", "KNO", 5, false}, ScaleCase{"combined_tensor", "G", 0, true},
                          ScaleCase{"combined_GN1D", "GN1D", 0, true},
                          ScaleCase{"combined_G1ND", "G1ND", 0, true},
                          ScaleCase{"combined_GND", "GND", 0, true}, ScaleCase{"combined_GH", "GH", 0, true},
                          ScaleCase{"combined_GBS", "GBS", 1, true}),
        ::testing::Values(2, 1)),
    [](const auto& scale) {
      return std::string(std::get<0>(scale.param).name) + "_heads" + std::to_string(std::get<1>(scale.param));
    });

using AntiquantFormsTest = AntiquantTest;

TEST_F(AntiquantFormsTest, KeyPerChannelWithValuePerToken) {
  HandCall made = Make(2, kValueDim);
  KvAntiquant& kv = *made.params.quantisation->kv_antiquant;
  kv.key_scale = View({"", "H", 0, false}, kDim, 2);
  kv.value_scale = View({"", "BS", 1, false}, kValueDim, 2);
  kv.value_mode = 1;
  made.call.antiquant = AntiquantSource::kSeparate;
  const Problem problem = Describe(made.params, made.call);
  ExpectScale(problem.key_scale, kv.key_scale, "H", 0, kDim, 2);
  ExpectScale(problem.value_scale, kv.value_scale, "BS", 1, kValueDim, 2);
  EXPECT_FALSE(problem.key_offset.present());
  EXPECT_FALSE(problem.value_offset.present());
}

TEST_F(AntiquantFormsTest, OffsetsOfTheOtherKindAreNotLookedAt) {
  HandCall made = Make(2, kDim);
  KvAntiquant& kv = *made.params.quantisation->kv_antiquant;
  kv.key_scale = kv.value_scale = View({"", "1", 0, false}, kDim, 2);
  kv.scale = kv.offset = View({"", "GND", 0, true}, kDim, 2);
  made.call.antiquant = AntiquantSource::kSeparate;
  const Problem separate = Describe(made.params, made.call);
  EXPECT_EQ(separate.key_scale.slot, AddressSlot(Argument::kKeyAntiquantScale, 0, 1));
  EXPECT_FALSE(separate.key_offset.present());

  kv.key_scale = kv.value_scale = kv.offset = TensorView{};
  kv.key_offset = kv.value_offset = View({"", "1", 0, false}, kDim, 2);
  made.call.antiquant = AntiquantSource::kCombined;
  const Problem combined = Describe(made.params, made.call);
  EXPECT_EQ(combined.key_scale.slot, AddressSlot(Argument::kAntiquantScale, 0, 1));
  EXPECT_FALSE(combined.key_offset.present());
  EXPECT_FALSE(combined.value_offset.present());
}

TEST_F(AntiquantFormsTest, CombinedModeCountsForOneQueryPositionOnly) {
  HandCall made = Make(2, kDim);
  made.call.query_axis = 4;
  made.call.antiquant = AntiquantSource::kCombined;
  KvAntiquant& kv = *made.params.quantisation->kv_antiquant;
  kv.scale = View({"", "GND", 0, true}, kDim, 2);
  kv.mode = 1;
  const Problem problem = Describe(made.params, made.call);
  ExpectScale(problem.value_scale, kv.scale, "GND", 1, kDim, 2);
}

TEST(Int8FlowTest, NamesItsThreeScales) {
  HandCall made = MakeHandCall({});
  made.params.quantisation = Quantisation{};
  const TensorView one = TensorView::Contiguous(nullptr, DataType::kFloat32, {1});
  const TensorView wide = TensorView::Contiguous(nullptr, DataType::kUint64, {1});
  made.params.quantisation->int8_flow = Int8Flow{wide, one, one};
  made.call.flow = Flow::kInt8;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.flow, Flow::kInt8);
  EXPECT_EQ(problem.deq_scale1.slot, AddressSlot(Argument::kDeqScale1, 0, 1));
  EXPECT_EQ(problem.deq_scale1.dtype, DataType::kUint64);
  EXPECT_EQ(problem.quant_scale1.slot, AddressSlot(Argument::kQuantScale1, 0, 1));
  EXPECT_EQ(problem.deq_scale2.slot, AddressSlot(Argument::kDeqScale2, 0, 1));
  EXPECT_EQ(problem.deq_scale2.dtype, DataType::kFloat32);
  EXPECT_FALSE(problem.output_quantisation.present());
}

class Int8MlaTest : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Int8MlaTest, QueryScaleHasTheQuerysShapeWithoutItsElements) {
  const auto& [layout, letters] = GetParam();
  Facts facts;
  facts.layout = layout;
  HandCall made = MakeHandCall(facts);
  TensorView scale = ViewOf(letters, {{'B', 3}, {'S', 4}, {'T', 6}, {'N', 6}}, DataType::kFloat32);
  Rng rng(11);
  Scatter(&rng, &scale);
  made.params.quantisation = Quantisation{};
  made.params.quantisation->int8_mla = Int8Mla{scale, 3};
  const TensorView one = TensorView::Contiguous(nullptr, DataType::kFloat32, {1});
  KvAntiquant kv;
  kv.key_scale = kv.value_scale = one;
  made.params.quantisation->kv_antiquant = kv;
  made.call.flow = Flow::kInt8Mla;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.query_scale.slot, AddressSlot(Argument::kDequantScaleQuery, 0, 1));
  EXPECT_EQ(problem.query_scale.dtype, DataType::kFloat32);
  EXPECT_EQ(problem.key_scale.slot, AddressSlot(Argument::kKeyAntiquantScale, 0, 1));
  EXPECT_EQ(problem.value_scale.slot, AddressSlot(Argument::kValueAntiquantScale, 0, 1));
  EXPECT_FALSE(problem.key_scale.per_channel);
  std::int64_t token = 0;
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::int64_t i = 0; i < facts.query_lengths[b]; ++i) {
      for (std::int64_t head = 0; head < 6; ++head) {
        const Letters at = {{'B', static_cast<std::int64_t>(b)}, {'S', i}, {'T', token + i}, {'N', head}};
        EXPECT_EQ(BitAt(problem.query_scale, problem.sequences[b].query_scale_offset, i, head, 0),
                  BitAt(scale, letters, at, 0));
      }
    }
    token += facts.query_lengths[b];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Int8MlaTest,
                         ::testing::Values(std::tuple{"BSH", "BSN"}, std::tuple{"BSND", "BSN"},
                                           std::tuple{"BSH_NBSD", "BSN"}, std::tuple{"BNSD_NBSD", "BNS"},
                                           std::tuple{"TND", "TN"}, std::tuple{"TND_NTD", "TN"}));

class OutputScaleTest : public ::testing::TestWithParam<std::vector<std::int64_t>> {
 protected:
  TensorView View(std::int64_t step) const {
    TensorView view = TensorView::Contiguous(nullptr, DataType::kBfloat16, {});
    view.rank = static_cast<std::int32_t>(GetParam().size());
    std::copy(GetParam().begin(), GetParam().end(), view.dims);
    view.SetRowMajorStrides();
    for (int axis = 0; axis < view.rank; ++axis) view.strides[axis] *= step;
    return view;
  }
};

// Walks the N * Dv elements of the normal form's dims in row-major order.
TEST_P(OutputScaleTest, CountsHeadsAndElementsRowMajor) {
  HandCall made = MakeHandCall({});  // 6 heads of 8
  made.params.quantisation = Quantisation{};
  made.params.quantisation->int8_output = Int8Output{View(3), View(5)};
  const OutputQuantisation quantisation = Describe(made.params, made.call).output_quantisation;
  EXPECT_EQ(quantisation.scale_slot, AddressSlot(Argument::kQuantScale2, 0, 1));
  EXPECT_EQ(quantisation.offset_slot, AddressSlot(Argument::kQuantOffset2, 0, 1));
  EXPECT_EQ(quantisation.dtype, DataType::kBfloat16);
  EXPECT_EQ(quantisation.per_channel, View(1).strides[0] * View(1).dims[0] > 1);
  EXPECT_FALSE(quantisation.empty_row_is_offset);
  const std::int64_t elements = quantisation.per_channel ? 6 * 8 : 1;
  for (std::int64_t element = 0; element < elements; ++element) {
    std::int64_t rest = element, scale_byte = 0, offset_byte = 0;
    for (int axis = quantisation.rank - 1; axis >= 0; --axis) {
      scale_byte += rest % quantisation.dims[axis] * quantisation.scale_strides[axis];
      offset_byte += rest % quantisation.dims[axis] * quantisation.offset_strides[axis];
      rest /= quantisation.dims[axis];
    }
    EXPECT_EQ(scale_byte, element * 3 * 2);  // row-major strides, three elements apart
    EXPECT_EQ(offset_byte, element * 5 * 2);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OutputScaleTest,
                         ::testing::Values(std::vector<std::int64_t>{1}, std::vector<std::int64_t>{1, 1, 1},
                                           std::vector<std::int64_t>{6, 8}, std::vector<std::int64_t>{48},
                                           std::vector<std::int64_t>{1, 6, 1, 8},
                                           std::vector<std::int64_t>{2, 4, 6},
                                           std::vector<std::int64_t>{1, 1, 48}));

TEST(OutputScaleTest, OnlyDecodeCallsWithAnOffsetFillEmptyRowsWithIt) {
  HandCall made = MakeHandCall({});
  const TensorView one = TensorView::Contiguous(nullptr, DataType::kFloat32, {1});
  made.params.quantisation = Quantisation{};
  made.params.quantisation->int8_output = Int8Output{one, {}};
  made.call.decode = true;
  EXPECT_FALSE(Describe(made.params, made.call).output_quantisation.empty_row_is_offset);
  made.params.quantisation->int8_output->offset = one;
  EXPECT_TRUE(Describe(made.params, made.call).output_quantisation.empty_row_is_offset);
}

}  // namespace
}  // namespace fia::testing
