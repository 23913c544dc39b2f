// What holds for softmax attention whatever the numbers are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

CallSpec SpecOf(DataType dtype, std::int64_t rows, std::int64_t keys) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  spec.query_lengths = {rows};
  spec.kv_lengths = {keys};
  return spec;
}

// Rows of the streaming body and of the packing one.
constexpr std::int64_t kRows[] = {1, 4, 30};

TEST(Property, PermutedHeadsPermuteTheOutput) {
  for (const std::int64_t rows : kRows) {
    CallSpec spec = SpecOf(DataType::kBfloat16, rows, 80);
    spec.num_heads = 6;
    spec.num_kv_heads = 3;
    spec.sink = spec.bias.given = true;
    BuiltCall original(spec);
    spec.kv_head_ids = {2, 0, 1};
    spec.head_ids = {5, 4, 0, 1, 3, 2};  // each within the group of its kv head
    BuiltCall permuted(spec);
    ASSERT_TRUE(original.Run().ok() && permuted.Run().ok());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t n = 0; n < 6; ++n) {
        const std::int64_t from = spec.head_ids[static_cast<std::size_t>(n)];
        EXPECT_EQ(permuted.Lse(0, i, n), original.Lse(0, i, from));
        for (std::int64_t d = 0; d < 64; ++d)
          ASSERT_EQ(permuted.Out(0, i, n, d), original.Out(0, i, from, d));
      }
    }
  }
}

TEST(Property, PermutedSequencesPermuteTheOutput) {
  for (const char* layout : {"BSND", "TND"}) {
    CallSpec spec = SpecOf(DataType::kFloat16, 1, 1);
    spec.layout = layout;
    spec.query_lengths = {1, 5, 20, 3};
    spec.kv_lengths = {70, 9, 130, 300};
    spec.mask.mode = 3;
    const auto original = RunBits(spec);
    spec.ids = {2, 0, 3, 1};
    spec.query_lengths = {20, 1, 3, 5};
    spec.kv_lengths = {130, 70, 300, 9};
    const auto permuted = RunBits(spec);
    ASSERT_EQ(permuted.size(), 4u);
    for (std::size_t b = 0; b < 4; ++b)
      EXPECT_EQ(permuted[b], original[static_cast<std::size_t>(spec.ids[b])]) << layout << b;
  }
}

TEST(Property, AConstantAddedToARowMovesItsLseAlone) {
  for (const std::int64_t rows : kRows) {
    for (const double constant : {-40.0, 3.0, 500.0}) {
      CallSpec spec = SpecOf(DataType::kFloat32, rows, 150);
      BuiltCall plain(spec);
      spec.bias.given = true;
      BuiltCall shifted(With(spec, [constant](const Site& site) -> std::optional<double> {
        if (site.part != Part::kBias) return std::nullopt;
        return constant + static_cast<double>(site.position);
      }));
      ASSERT_TRUE(plain.Run().ok() && shifted.Run().ok());
      for (std::int64_t i = 0; i < rows; ++i) {
        const double shift = constant + static_cast<double>(i);
        EXPECT_NEAR(shifted.Lse(0, i, 1), plain.Lse(0, i, 1) + shift, 1e-5 * (5 + std::fabs(shift)));
        for (std::int64_t d = 0; d < 64; ++d)
          ASSERT_NEAR(shifted.Out(0, i, 1, d), plain.Out(0, i, 1, d), 1e-6 * (10 + std::fabs(shift)));
      }
    }
  }
}

// Scores are 1 * k[0] + others, so one more key can have any score.
CallSpec WithUnitFirstElement(CallSpec spec, std::int64_t last, double score) {
  spec.scale = 1;
  return With(std::move(spec), [last, score](const Site& site) -> std::optional<double> {
    if (site.part == Part::kQuery && site.dim == 0) return 1;
    if (site.part == Part::kSink) return score;
    if (site.part == Part::kKey && site.position == last) return site.dim == 0 ? score : 0;
    if (site.part == Part::kValue && site.position == last) return 0;
    return std::nullopt;
  });
}

TEST(Property, ASinkIsAKeyWithoutAValue) {
  for (const std::int64_t rows : kRows) {
    for (const double score : {-3.0, 2.0, 30.0}) {
      for (const std::int64_t keys : {1, 64, 256}) {
        CallSpec spec = SpecOf(DataType::kFloat32, rows, keys);
        spec.sink = true;
        BuiltCall sink(WithUnitFirstElement(spec, keys, score));
        spec.sink = false;
        spec.kv_lengths = {keys + 1};
        BuiltCall key(WithUnitFirstElement(spec, keys, score));
        ASSERT_TRUE(sink.Run().ok() && key.Run().ok());
        for (std::int64_t n = 0; n < 4; ++n) {
          EXPECT_NEAR(sink.Lse(0, rows - 1, n), key.Lse(0, rows - 1, n), 5e-5);
          for (std::int64_t d = 0; d < 64; ++d)
            ASSERT_NEAR(sink.Out(0, rows - 1, n, d), key.Out(0, rows - 1, n, d), 2e-5);
        }
      }
    }
  }
}

TEST(Property, PartsOfTheKeysJoinByTheirLse) {
  for (const std::int64_t rows : kRows) {
    const std::int64_t keys = 300;
    for (const std::int64_t cut : {1, 128, 256, 299}) {
      CallSpec spec = SpecOf(DataType::kFloat32, rows, keys);
      BuiltCall whole(spec);
      spec.mask.given = true;
      const auto half = [cut](bool low) {
        return [cut, low](const Site& site) -> std::optional<double> {
          if (site.part != Part::kMask) return std::nullopt;
          return (site.dim < cut) == low ? 0 : 1;
        };
      };
      BuiltCall low(With(spec, half(true)));
      BuiltCall high(With(spec, half(false)));
      ASSERT_TRUE(whole.Run().ok() && low.Run().ok() && high.Run().ok());
      for (std::int64_t i = 0; i < rows; ++i) {
        const double share = 1 / (1 + std::exp(high.Lse(0, i, 2) - low.Lse(0, i, 2)));
        EXPECT_NEAR(whole.Lse(0, i, 2), low.Lse(0, i, 2) - std::log(share), 1e-4);
        for (std::int64_t d = 0; d < 64; ++d)
          ASSERT_NEAR(whole.Out(0, i, 2, d), share * low.Out(0, i, 2, d) + (1 - share) * high.Out(0, i, 2, d),
                      2e-5);
      }
    }
  }
}

TEST(Property, EqualScoresGiveTheMean) {
  for (const std::int64_t rows : kRows) {
    for (const std::int64_t keys : {1, 2, 100, 1500}) {
      CallSpec spec = SpecOf(DataType::kFloat32, rows, keys);
      spec.scale = 0;
      BuiltCall call(spec);
      ASSERT_TRUE(call.Run().ok());
      const Rows values = RowsOf(call.params().value[0], AxisOrder::kBnsd, 64, DataType::kFloat32, 1);
      EXPECT_NEAR(call.Lse(0, rows - 1, 3), std::log(static_cast<double>(keys)), 1e-5);
      for (std::int64_t d = 0; d < 64; ++d) {
        double mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) mean += values.Get(0, j, 1, d) / static_cast<double>(keys);
        EXPECT_NEAR(call.Out(0, rows - 1, 3, d), mean, 2e-6);
      }
    }
  }
}

TEST(Property, OneKeyGivesItsValueExactly) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : kRows) {
      BuiltCall call(SpecOf(dtype, rows, 1));
      ASSERT_TRUE(call.Run().ok());
      const Rows values = RowsOf(call.params().value[0], AxisOrder::kBnsd, 64, dtype, 1);
      for (std::int64_t d = 0; d < 64; ++d) EXPECT_EQ(call.Out(0, rows - 1, 2, d), values.Get(0, 0, 1, d));
    }
  }
}

TEST(Property, DoubledValuesDoubleTheOutputExactly) {
  for (const std::int64_t rows : kRows) {
    CallSpec spec = SpecOf(DataType::kFloat32, rows, 300);
    BuiltCall once(spec);
    BuiltCall twice(With(spec, [base = spec](const Site& site) -> std::optional<double> {
      if (site.part != Part::kValue) return std::nullopt;
      return 2 * ContentAt(base, site);
    }));
    ASSERT_TRUE(once.Run().ok() && twice.Run().ok());
    for (std::int64_t d = 0; d < 64; ++d)
      EXPECT_EQ(twice.Out(0, rows - 1, 0, d), 2 * once.Out(0, rows - 1, 0, d));
  }
}

TEST(Property, TheLastCausalRowIsTheDecodeOfItsToken) {
  CallSpec spec = SpecOf(DataType::kFloat32, 40, 90);
  spec.mask.mode = 3;
  BuiltCall prefill(spec);
  CallSpec last = SpecOf(DataType::kFloat32, 1, 90);
  BuiltCall decode(With(last, [base = spec](const Site& site) -> std::optional<double> {
    if (site.part != Part::kQuery) return std::nullopt;
    Site moved = site;
    moved.position = 39;
    return ContentAt(base, moved);
  }));
  ASSERT_TRUE(prefill.Run().ok() && decode.Run().ok());
  for (std::int64_t n = 0; n < 4; ++n) {
    EXPECT_NEAR(prefill.Lse(0, 39, n), decode.Lse(0, 0, n), 1e-5);
    for (std::int64_t d = 0; d < 64; ++d) EXPECT_NEAR(prefill.Out(0, 39, n, d), decode.Out(0, 0, n, d), 1e-5);
  }
}

}  // namespace
}  // namespace fia::testing
