// Quantised calls with answers known in advance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "fia/half.h"
#include "support/call_check.h"

namespace fia::testing {
namespace {

CallSpec Antiquant(DataType stored, std::int64_t rows, std::int64_t keys) {
  CallSpec spec;
  spec.kv_dtype = stored;
  spec.quant.flow = QuantFlow::kAntiquant;
  spec.query_lengths = {rows};
  spec.kv_lengths = {keys};
  return spec;
}

TEST(KnownQuantised, NibblesOfAnInt32LowestFirst) {
  for (const std::int32_t word : {0x76543210, static_cast<std::int32_t>(0xFFFFFFF8)}) {
    CallSpec spec = Antiquant(DataType::kInt4, 1, 1);
    spec.num_heads = spec.num_kv_heads = 1;
    spec.head_dim = spec.value_dim = 8;
    spec.quant.int4_in_int32 = true;
    spec = With(spec, [](const Site& site) -> std::optional<double> {
      if (site.part == Part::kValueScale) return 0.5;
      return std::nullopt;
    });
    BuiltCall call(spec);
    std::memcpy(call.params().value[0].data, &word, sizeof word);
    ASSERT_TRUE(CallMatches(call));
    for (std::int64_t d = 0; d < 8; ++d) {
      const double expected = word > 0 ? static_cast<double>(d) : d == 0 ? -8 : -1;
      EXPECT_EQ(call.Out(0, 0, 0, d), 0.5 * expected) << d;
    }
  }
}

TEST(KnownQuantised, TailsOfEveryVectorWidth) {
  for (const std::int64_t dim : {80, 96, 112, 8, 24, 33}) {
    for (const std::int64_t keys : {1, 15, 17, 31, 33}) {
      for (const std::int64_t rows : {1, 3, 20}) {
        for (const Guard guard : {Guard::kAfter, Guard::kBefore}) {
          CallSpec spec = Antiquant(DataType::kInt8, rows, keys);
          spec.head_dim = spec.value_dim = dim;
          spec.guard = guard;
          spec.quant.per_channel = keys % 2 == 1;
          spec.quant.offsets = dim != 96;
          EXPECT_TRUE(CallMatches(spec));
          spec.quant.key_mode = spec.quant.value_mode = 1;
          EXPECT_TRUE(CallMatches(spec));
          if (dim % 8 != 0 || rows > 1) continue;
          spec.kv_dtype = DataType::kInt4;
          EXPECT_TRUE(CallMatches(spec));
        }
      }
    }
  }
}

TEST(KnownQuantised, OffsetsThatCancelTheStoredNumbers) {
  for (const std::int64_t rows : {1, 20}) {
    for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16}) {
      CallSpec spec = Antiquant(DataType::kInt8, rows, 70);
      spec.dtype = spec.out_dtype = dtype;
      spec.quant.per_channel = spec.quant.offsets = true;
      spec = With(spec, [](const Site& site) -> std::optional<double> {
        if (site.part == Part::kKeyOffset || site.part == Part::kValueOffset) return 120;
        const bool stored = site.part == Part::kKey || site.part == Part::kValue;
        if (stored) return -118 - (site.position + site.dim) % 5;
        return std::nullopt;
      });
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

// Factors that overflow float32 together while every score is ordinary, or 0.
TEST(KnownQuantised, FactorsThatOverflowTogether) {
  for (const std::int64_t rows : {1, 3, 40}) {
    for (const bool per_channel : {false, true}) {
      CallSpec spec = Antiquant(DataType::kInt8, rows, 40);
      spec.dtype = spec.out_dtype = DataType::kBfloat16;
      spec.lse = true;
      spec.scale = 1e25;
      spec.quant.per_channel = per_channel;
      for (const double query : {1e-30, 0.0}) {
        EXPECT_TRUE(CallMatches(With(spec, [query](const Site& site) -> std::optional<double> {
          if (site.part == Part::kQuery) return query;
          if (site.part == Part::kKeyScale) return 1e20;
          if (site.part == Part::kKey) return site.dim == 0 && site.position == 7 ? 1 : 0;
          return std::nullopt;
        })));
      }
    }
  }
}

TEST(KnownQuantised, ChannelsOfZeroUnderAHugeQuery) {
  for (const std::int64_t rows : {1, 3, 40}) {
    CallSpec spec = Antiquant(DataType::kInt8, rows, 40);
    spec.dtype = spec.out_dtype = DataType::kBfloat16;
    spec.lse = true;
    spec.quant.per_channel = true;
    EXPECT_TRUE(CallMatches(With(spec, [](const Site& site) -> std::optional<double> {
      if (site.dim != 5) return std::nullopt;
      if (site.part == Part::kQuery || site.part == Part::kKeyScale) return 0x1p70;
      if (site.part == Part::kKey) return 0;
      return std::nullopt;
    })));
  }
}

TEST(KnownQuantised, AnInfiniteQueryStaysInfinite) {
  for (const std::int64_t rows : {1, 3, 40}) {
    CallSpec spec = Antiquant(DataType::kInt8, rows, 40);
    spec.dtype = spec.out_dtype = DataType::kBfloat16;
    spec.lse = true;
    spec.quant.per_channel = true;
    EXPECT_TRUE(CallMatches(With(spec, [](const Site& site) -> std::optional<double> {
      if (site.dim != 5) return std::nullopt;
      if (site.part == Part::kQuery) return -std::numeric_limits<double>::infinity();
      if (site.part == Part::kKeyScale) return 0x1p-60;
      if (site.part == Part::kKey) return site.position == 7 ? -1 : 1;
      return std::nullopt;
    })));
  }
}

TEST(KnownQuantised, Int8ScoresOfZeroUnderHugeFactors) {
  for (const std::int64_t rows : {2, 40}) {
    CallSpec spec;
    spec.dtype = spec.kv_dtype = DataType::kInt8;
    spec.quant.flow = QuantFlow::kInt8;
    spec.query_lengths = {rows};
    spec.kv_lengths = {40};
    spec.lse = true;
    spec.scale = 1e25;
    spec.query_magnitude = 1e24;  // deqScale1 grows with it
    EXPECT_TRUE(CallMatches(With(spec, [](const Site& site) -> std::optional<double> {
      if (site.part == Part::kQuery) return 0;
      return std::nullopt;
    })));
  }
}

// scaleValue * keyAntiquantScale alone overflows; dequantScaleQuery brings it back.
TEST(KnownQuantised, LatentAttentionScalesThatOverflowWithoutTheThird) {
  CallSpec spec;
  spec.layout = "BSND";
  spec.dtype = spec.kv_dtype = DataType::kInt8;
  spec.out_dtype = DataType::kBfloat16;
  spec.quant.flow = QuantFlow::kInt8Mla;
  spec.num_heads = 4;
  spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = 512;
  spec.rope_dim = 64;
  spec.storage = KvStorage::kPagedNz;
  spec.paged.block_size = 128;
  spec.query_lengths = {1};
  spec.kv_lengths = {600};
  spec.scale = 1e25;
  EXPECT_TRUE(CallMatches(With(spec, [](const Site& site) -> std::optional<double> {
    if (site.part == Part::kKeyScale) return 1e15;
    if (site.part == Part::kQueryScale) return 0x1p-146;
    return std::nullopt;
  })));
}

TEST(KnownQuantised, OutputsRoundToNearestEven) {
  for (const std::int64_t rows : {1, 20}) {
    for (const double value : {1.25, 1.75, -1.25, -1.75, 100.0, -100.0}) {
      CallSpec spec;
      spec.query_lengths = {rows};
      spec.kv_lengths = {1};
      spec.out_dtype = DataType::kInt8;
      spec.quant.output = OutputQuant::kTensor;
      spec = With(spec, [value](const Site& site) -> std::optional<double> {
        if (site.part == Part::kValue) return value;
        if (site.part == Part::kOutputScale) return 2;
        return std::nullopt;
      });
      BuiltCall call(spec);
      ASSERT_TRUE(CallMatches(call));
      double expected = std::fabs(value) == 1.25 ? 2 : std::fabs(value) == 1.75 ? 4 : value > 0 ? 127 : 128;
      if (value < 0) expected = -expected;
      EXPECT_EQ(call.Out(0, rows - 1, 3, 63), expected) << value;
    }
  }
}

TEST(KnownQuantised, AnEmptyDecodeSequenceGivesTheOffset) {
  CallSpec spec;
  spec.query_lengths = {1, 1};
  spec.kv_lengths = {0, 5};
  spec.out_dtype = DataType::kInt8;
  spec.quant.output = OutputQuant::kTensor;
  spec.quant.output_offset = true;
  spec = With(spec, [](const Site& site) -> std::optional<double> {
    if (site.part == Part::kOutputOffset) return -6.5;
    return std::nullopt;
  });
  BuiltCall decode(spec);
  ASSERT_TRUE(CallMatches(decode));
  EXPECT_EQ(decode.Out(0, 0, 0, 0), -6);
  spec.layout = "BNSD_BSND";  // not a decode call
  BuiltCall general(spec);
  ASSERT_TRUE(CallMatches(general));
  EXPECT_EQ(general.Out(0, 0, 0, 0), 0);
}

}  // namespace
}  // namespace fia::testing
