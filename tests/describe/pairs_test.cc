// Masks, biases and bands.
#include <gtest/gtest.h>

#include "core/arguments.h"
#include "describe/describe.h"
#include "describe/hand_call.h"

namespace fia::testing {
namespace {

struct BandCase {
  const char* name;
  std::int64_t mode;
  bool mask;    // a full mask is given
  bool decode;  // a decode call
  bool padded;  // kv left padding is on
  std::int64_t pre_tokens;
  std::int64_t next_tokens;
  std::int64_t low, high;  // of a sequence with 3 query positions and 10 keys
};

class BandTest : public ::testing::TestWithParam<BandCase> {};

TEST_P(BandTest, IsTheModes) {
  const BandCase& band = GetParam();
  Facts facts;
  facts.batch = 1;
  facts.query_axis = 3;
  facts.kv_axis = 10;
  facts.query_lengths = {3};
  facts.kv_lengths = {10};
  HandCall made = MakeHandCall(facts);
  made.params.mask = Mask{TensorView::Contiguous(nullptr, DataType::kBool, {1, 3, 10}), band.mode,
                          band.pre_tokens, band.next_tokens};
  made.call.has_mask = band.mask;
  made.call.sparse_mode = band.mode;
  made.call.decode = band.decode;
  made.call.kv_left_padded = band.padded;
  made.call.pre_tokens = band.pre_tokens;
  made.call.next_tokens = band.next_tokens;
  const Sequence sequence = Describe(made.params, made.call).sequences[0];
  EXPECT_EQ(sequence.band_low, band.low);
  EXPECT_EQ(sequence.band_high, band.high);
}

constexpr std::int64_t kFar = 2147483647;

INSTANTIATE_TEST_SUITE_P(
    All, BandTest,
    ::testing::Values(BandCase{"mode0_no_mask", 0, false, false, false, 1, 1, -kUnbounded, kUnbounded},
                      BandCase{"mode0_mask", 0, true, false, false, 4, 0, -4, 0},
                      BandCase{"mode0_negative_tokens", 0, true, false, false, -2, 5, 2, 5},
                      BandCase{"mode0_clamped_tokens", 0, true, false, false, kFar, -kFar, -kFar, -kFar},
                      BandCase{"mode0_mask_left_padded", 0, true, false, true, 4, 0, -kUnbounded, kUnbounded},
                      BandCase{"decode_mask", 0, true, true, false, 4, 0, -kUnbounded, kUnbounded},
                      BandCase{"mode1", 1, true, false, false, 4, 0, -kUnbounded, kUnbounded},
                      BandCase{"mode2", 2, false, false, false, 4, 3, -kUnbounded, 0},
                      BandCase{"mode2_left_padded", 2, false, false, true, 4, 3, -kUnbounded, 0},
                      BandCase{"mode3", 3, false, false, false, 4, 3, -kUnbounded, 7},
                      BandCase{"mode4", 4, false, false, false, 4, 3, 3, 10},
                      BandCase{"mode4_left_padded", 4, false, false, true, 4, 3, 3, 10},
                      BandCase{"mode4_negative_next", 4, false, false, false, 4, -3, 3, 4}),
    [](const auto& band) { return std::string(band.param.name); });

TEST(BandTest, CountsThePrefixAndEachSequencesOwnLengths) {
  HandCall made = MakeHandCall({});
  const TensorView view = TensorView::Contiguous(nullptr, DataType::kFloat16, {1, 7, 2, 8});
  made.params.prefix = SharedPrefix{view, view, {}};
  made.call.has_prefix = true;
  made.call.prefix_length = 7;
  made.call.sparse_mode = 3;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.sequences[0].band_high, 7 + 5 - 2);
  EXPECT_EQ(problem.sequences[1].band_high, 7 + 3 - 0);
  EXPECT_EQ(problem.sequences[2].band_high, 7 + 0 - 4);
}

TEST(BandTest, QueryLeftPaddingPutsTheTokensOfMode0OutOfUse) {
  HandCall made = MakeHandCall({});
  made.params.mask = Mask{TensorView::Contiguous(nullptr, DataType::kBool, {4, 5}), 0, 1, 1};
  made.call.has_mask = true;
  made.call.pre_tokens = made.call.next_tokens = 1;
  EXPECT_EQ(Describe(made.params, made.call).sequences[0].band_high, 1);
  made.call.query_left_padded = true;
  const Sequence sequence = Describe(made.params, made.call).sequences[0];
  EXPECT_EQ(sequence.band_low, -kUnbounded);
  EXPECT_EQ(sequence.band_high, kUnbounded);
}

TEST(BandTest, MoreQueriesThanKeysReachesBelowZero) {
  Facts facts;
  facts.query_lengths = {4, 4, 4};
  facts.kv_lengths = {2, 1, 0};
  HandCall made = MakeHandCall(facts);
  made.call.sparse_mode = 3;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.sequences[0].band_high, -2);
  EXPECT_EQ(problem.sequences[1].band_high, -3);
  EXPECT_EQ(problem.sequences[2].band_high, -4);
}

// A mask's shape for B 3, with the letters of its axes: 1 is an axis of one element, R a row, C a column.
struct MaskCase {
  std::int64_t query_axis;
  std::vector<std::int64_t> dims;
  const char* letters;
};

class MaskTest : public ::testing::TestWithParam<MaskCase> {};

TEST_P(MaskTest, LiesWhereItsShapeSays) {
  const MaskCase& mask = GetParam();
  Facts facts;
  facts.query_axis = mask.query_axis;
  facts.query_lengths = {1, 1, 1};
  HandCall made = MakeHandCall(facts);
  TensorView view = TensorView::Contiguous(nullptr, DataType::kInt8, {});
  view.rank = static_cast<std::int32_t>(mask.dims.size());
  std::copy(mask.dims.begin(), mask.dims.end(), view.dims);
  for (int axis = 0; axis < view.rank; ++axis) view.strides[axis] = 1000 * axis + 17;
  made.params.mask = Mask{view, 1};
  made.call.sparse_mode = 1;
  made.call.has_mask = true;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.mask.slot, AddressSlot(Argument::kAttenMask, 0, 1));
  EXPECT_EQ(problem.mask.dtype, DataType::kInt8);
  EXPECT_EQ(problem.mask.head_stride, 0);
  for (std::int64_t b = 0; b < 3; ++b) {
    for (std::int64_t row = 0; row < mask.query_axis; ++row) {
      for (std::int64_t column = 0; column < 5; ++column) {
        const Letters at = {{'B', b}, {'1', 0}, {'R', row}, {'C', column}};
        EXPECT_EQ(8 * (problem.sequences[static_cast<std::size_t>(b)].mask_offset +
                       row * problem.mask.row_stride + column * problem.mask.key_stride),
                  BitAt(view, mask.letters, at, 0))
            << "sequence " << b << " row " << row << " column " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MaskTest,
                         ::testing::Values(MaskCase{4, {4, 5}, "RC"}, MaskCase{4, {6, 9}, "RC"},
                                           MaskCase{4, {1, 4, 5}, "1RC"}, MaskCase{4, {3, 4, 5}, "BRC"},
                                           MaskCase{4, {1, 1, 4, 5}, "11RC"},
                                           MaskCase{4, {3, 1, 7, 8}, "B1RC"}, MaskCase{1, {3, 5}, "BC"},
                                           MaskCase{1, {1, 1, 5}, "11C"}, MaskCase{1, {3, 1, 6}, "B1C"},
                                           MaskCase{1, {1, 1, 1, 5}, "111C"},
                                           MaskCase{1, {3, 1, 1, 5}, "B11C"}));

TEST(MaskTest, CompressedMasksAreNotRead) {
  HandCall made = MakeHandCall({});
  made.params.mask = Mask{TensorView::Contiguous(nullptr, DataType::kBool, {2048, 2048}), 3};
  made.call.sparse_mode = 3;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_FALSE(problem.mask.present());
  EXPECT_EQ(problem.sequences[2].mask_offset, 0);
}

class BiasTest : public ::testing::TestWithParam<std::tuple<std::int64_t, const char*>> {};

TEST_P(BiasTest, ServesEverySequence) {
  const auto& [batch, layout] = GetParam();
  Facts facts;
  facts.layout = layout;
  HandCall made = MakeHandCall(facts);
  TensorView view = TensorView::Contiguous(nullptr, DataType::kBfloat16, {batch, 6, 4, 9});
  view.strides[1] = 0;
  made.params.scores.pse_shift = view;
  made.call.has_bias = true;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.bias.slot, AddressSlot(Argument::kPseShift, 0, 1));
  EXPECT_EQ(problem.bias.dtype, DataType::kBfloat16);
  EXPECT_EQ(problem.bias.head_stride, 0);
  EXPECT_EQ(problem.bias.row_stride, 9 * 2);
  EXPECT_EQ(problem.bias.key_stride, 2);
  for (std::int64_t b = 0; b < 3; ++b) {
    EXPECT_EQ(problem.sequences[static_cast<std::size_t>(b)].bias_offset, batch == 1 ? 0 : b * 6 * 4 * 9 * 2);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BiasTest,
                         ::testing::Combine(::testing::Values(1, 3),
                                            ::testing::Values("BSH", "BNSD", "TND")));

TEST(SinkTest, HasTheStrideOfItsView) {
  HandCall made = MakeHandCall({});
  TensorView sink = TensorView::Contiguous(nullptr, DataType::kFloat16, {6});
  sink.strides[0] = 5;
  made.params.scores.learnable_sink = sink;
  const Problem problem = Describe(made.params, made.call);
  EXPECT_EQ(problem.sink.slot, AddressSlot(Argument::kLearnableSink, 0, 1));
  EXPECT_EQ(problem.sink.dtype, DataType::kFloat16);
  EXPECT_EQ(problem.sink.stride, 10);
}

}  // namespace
}  // namespace fia::testing
