// Scales and offsets of every arrangement reach the kernels: a quantised cache gives what its dequantised
// numbers give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/arguments.h"
#include "scene.h"

namespace fia::testing {
namespace {

// The axes along which a scale varies; none: per tensor.
struct Arrangement {
  const char* name;
  bool batch;
  bool head;
  bool token;
  bool dim;
};

constexpr Arrangement kArrangements[] = {
    {"per tensor", false, false, false, false},      {"per channel", false, true, false, true},
    {"per token", true, false, true, false},         {"per head", false, true, false, false},
    {"per token and head", true, true, true, false},
};

// One scale or offset: its elements, and where the problem finds them.
struct Factor {
  KvScale scale;
  std::vector<float> elements;

  float At(std::int64_t b, std::int64_t n, std::int64_t j, std::int64_t d) const {
    const std::int64_t bytes =
        b * scale.batch_stride + n * scale.head_stride + j * scale.token_stride + d * scale.dim_stride;
    return elements[static_cast<std::size_t>(bytes / 4)];
  }
};

class QuantisedScene {
 public:
  QuantisedScene(const Arrangement& arrangement, bool offsets, int bits)
      : scene({4, 2, 16, 8, {{2, 50}, {1, 1300}, {9, 33}}, 0, 3}), bits_(bits), random_(bits) {
    scene.problem.flow = Flow::kAntiquant;
    Quantise(&scene.key, 16, arrangement, offsets, Argument::kKeyAntiquantScale, &scene.problem.key_scale,
             &scene.problem.key_offset, Argument::kKey, &scene.problem.storage[0].key);
    Quantise(&scene.value, 8, arrangement, offsets, Argument::kValueAntiquantScale,
             &scene.problem.value_scale, &scene.problem.value_offset, Argument::kValue,
             &scene.problem.storage[0].value);
    for (std::int64_t b = 0; b < 3; ++b) {
      KvSegment& own = scene.problem.sequences[static_cast<std::size_t>(b)].segments[0];
      own.key_offset = b * 2 * scene.problem.storage[0].key.head_stride;
      own.value_offset = b * 2 * scene.problem.storage[0].value.head_stride;
    }
  }

  Scene scene;

 private:
  Factor Make(const Arrangement& arrangement, std::int64_t dim, Argument argument, float low, float high) {
    Factor factor;
    KvScale& scale = factor.scale;
    std::int64_t count = 1;
    const auto axis = [&count](bool varies, std::int64_t length, std::int64_t* stride) {
      if (!varies) return;
      *stride = count * 4;
      count *= length;
    };
    axis(arrangement.dim, dim, &scale.dim_stride);
    axis(arrangement.token, scene.key_axis, &scale.token_stride);
    axis(arrangement.head, 2, &scale.head_stride);
    axis(arrangement.batch, 3, &scale.batch_stride);
    std::uniform_real_distribution<float> uniform(low, high);
    for (std::int64_t at = 0; at < count; ++at) factor.elements.push_back(uniform(random_));
    scale.slot = AddressSlot(argument, 0, 1);
    scale.dtype = DataType::kFloat32;
    scale.per_token = arrangement.token;
    scale.per_channel = arrangement.dim;
    scene.Give(argument, factor.elements);
    return factor;
  }

  // Makes stored integers and, in `plain`, the numbers that they stand for.
  void Quantise(std::vector<float>* plain, std::int64_t dim, const Arrangement& arrangement, bool offsets,
                Argument first, KvScale* scale, KvScale* offset, Argument stored, RowTensor* rows) {
    const int limit = 1 << (bits_ - 1);
    const Factor factor =
        Make(arrangement, dim, first, 0.5f / static_cast<float>(limit), 1.5f / static_cast<float>(limit));
    *scale = factor.scale;
    Factor shift;
    if (offsets) {
      shift = Make(arrangement, dim, static_cast<Argument>(static_cast<int>(first) + 1), -3, 3);
      *offset = shift.scale;
    }
    std::uniform_int_distribution<int> integers(-limit, limit - 1);
    std::vector<std::uint8_t> bytes(plain->size() * static_cast<std::size_t>(bits_) / 8);
    for (std::size_t at = 0; at < plain->size(); ++at) {
      const auto index = static_cast<std::int64_t>(at);
      const std::int64_t d = index % dim, j = index / dim % scene.key_axis;
      const std::int64_t n = index / dim / scene.key_axis % 2, b = index / dim / scene.key_axis / 2;
      const int integer = integers(random_);
      const float moved = static_cast<float>(integer) + (offsets ? shift.At(b, n, j, d) : 0);
      (*plain)[at] = moved * factor.At(b, n, j, d);
      const auto low_bits = static_cast<std::uint8_t>(integer & (bits_ == 8 ? 255 : 15));
      if (bits_ == 8) bytes[at] = low_bits;
      if (bits_ == 4) bytes[at / 2] |= static_cast<std::uint8_t>(low_bits << (at % 2 * 4));
    }
    scene.Give(stored, bytes);
    rows->dtype = bits_ == 8 ? DataType::kInt8 : DataType::kInt4;
    rows->dim_stride = bits_ == 8 ? 1 : 0;
    rows->row_stride = dim * bits_ / 8;
    rows->head_stride = scene.key_axis * rows->row_stride;
  }

  int bits_;
  std::mt19937_64 random_;
};

TEST(Antiquant, EveryArrangementOfScalesIsApplied) {
  for (const Arrangement& arrangement : kArrangements) {
    for (const bool offsets : {false, true}) {
      for (const int bits : {8, 4}) {
        QuantisedScene quantised(arrangement, offsets, bits);
        const Result got = quantised.scene.Run(3);
        EXPECT_EQ(Difference(got, quantised.scene.Expected(), 1e-4), "")
            << arrangement.name << (offsets ? " with offsets, " : ", ") << bits << " bits";
        EXPECT_TRUE(quantised.scene.Run(1).SameBits(got)) << arrangement.name;
      }
    }
  }
}

// A NaN among the scales of keys that a row does not attend is not its business.
TEST(Antiquant, ScalesOfOtherKeysDoNotMatter) {
  const Arrangement& per_token = kArrangements[2];
  QuantisedScene clean(per_token, true, 8), spoilt(per_token, true, 8);
  for (QuantisedScene* each : {&clean, &spoilt}) each->scene.SetBand(-kUnbounded, 20);
  for (const Argument argument : {Argument::kKeyAntiquantScale, Argument::kKeyAntiquantOffset,
                                  Argument::kValueAntiquantScale, Argument::kValueAntiquantOffset}) {
    auto* elements = static_cast<float*>(spoilt.scene.addresses[static_cast<std::size_t>(argument)]);
    for (std::int64_t b = 0; b < 3; ++b) elements[b * spoilt.scene.key_axis + 21] = NAN;
  }
  const Result expected = clean.scene.Run(1);
  const Result got = spoilt.scene.Run(1);
  // Row 0 of every head attends keys 0..20; row 1 of the two-row sequence attends the spoilt key.
  for (std::int64_t row = 0; row < 3 * 4 * 9; row += 9) {
    EXPECT_EQ(got.lse[static_cast<std::size_t>(row)], expected.lse[static_cast<std::size_t>(row)]);
    for (std::int64_t d = row * 8; d < row * 8 + 8; ++d) {
      EXPECT_EQ(got.out[static_cast<std::size_t>(d)], expected.out[static_cast<std::size_t>(d)]);
    }
  }
}

// int8 output of elements that are four bytes apart, so that the float buffer holds one in each float.
std::vector<int> RunInt8Output(Scene* scene, const std::vector<float>& scale,
                               const std::vector<float>& offset) {
  Problem& problem = scene->problem;
  problem.out.dtype = DataType::kInt8;
  OutputQuantisation& output = problem.output_quantisation;
  output.scale_slot = AddressSlot(Argument::kQuantScale2, 0, 1);
  output.dtype = DataType::kFloat32;
  output.rank = 2;
  output.dims[0] = 2;
  output.dims[1] = static_cast<std::int64_t>(scale.size()) / 2;
  if (scale.size() == 1) output.dims[0] = output.dims[1] = 1;
  output.per_channel = scale.size() > 1;
  output.scale_strides[0] = output.offset_strides[0] = output.dims[1] * 4;
  output.scale_strides[1] = output.offset_strides[1] = 4;
  scene->Give(Argument::kQuantScale2, scale);
  if (!offset.empty()) {
    output.offset_slot = AddressSlot(Argument::kQuantOffset2, 0, 1);
    scene->Give(Argument::kQuantOffset2, offset);
  }
  std::vector<int> integers;
  for (const float x : scene->Run(2).out) integers.push_back(*reinterpret_cast<const std::int8_t*>(&x));
  return integers;
}

TEST(Int8Output, ScalesAndOffsetsPerTensorAndChannel) {
  for (const bool per_channel : {false, true}) {
    for (const bool with_offset : {false, true}) {
      Scene scene({4, 2, 8, 8, {{2, 40}, {3, 0}}, 4, 9});
      const Result exact = scene.Expected();
      std::vector<float> scale(per_channel ? 32 : 1), offset(with_offset ? scale.size() : 0);
      for (std::size_t e = 0; e < scale.size(); ++e) scale[e] = 40 + 3 * static_cast<float>(e);
      for (std::size_t e = 0; e < offset.size(); ++e) offset[e] = 5 - static_cast<float>(e);
      const std::vector<int> got = RunInt8Output(&scene, scale, offset);
      for (std::int64_t at = 0; at < 2 * 4 * 4 * 8; ++at) {
        const std::int64_t d = at % 8, i = at / 8 % 4, n = at / 32 % 4;
        const auto e = static_cast<std::size_t>(per_channel ? n * 8 + d : 0);
        const bool empty = at >= 128 || i >= 2;
        double x = exact.out[static_cast<std::size_t>(at)] * scale[e];
        if (with_offset) x += offset[e];
        x = std::clamp(x, -128.0, 127.0);
        EXPECT_LE(std::abs(got[static_cast<std::size_t>(at)] - (empty ? 0 : x)), empty ? 0 : 0.5001) << at;
      }
    }
  }
}

TEST(Int8Output, DecodeWithoutKeysGivesTheOffset) {
  Scene scene({2, 2, 8, 8, {{1, 0}, {1, 5}}, 0, 9});
  scene.problem.output_quantisation.empty_row_is_offset = true;
  std::vector<float> scale(16, 10), offset;
  for (int e = 0; e < 16; ++e) offset.push_back(static_cast<float>(e) - 7.5f);
  offset[15] = 300;
  offset[14] = -300;
  const std::vector<int> got = RunInt8Output(&scene, scale, offset);
  for (std::size_t e = 0; e < 14; ++e) EXPECT_EQ(got[e], std::nearbyint(offset[e])) << e;
  EXPECT_EQ(got[14], -128);
  EXPECT_EQ(got[15], 127);
}

}  // namespace
}  // namespace fia::testing
