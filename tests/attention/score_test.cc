// What makes scores beside q . k: scale, pseShift and the learnable sink; and how precise they are.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32};

CallSpec SpecOf(DataType dtype, std::int64_t rows) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
  spec.query_lengths = {rows, (rows + 1) / 2};
  spec.kv_lengths = {90, 270};
  return spec;
}

TEST(ScoreTest, ScalesOfEverySize) {
  for (const DataType dtype : kTypes) {
    for (const double scale : {0.0, -0.7, 1e-6, 1.0, 25.0, 1e-45, 0.1}) {
      for (const std::int64_t rows : {1, 13}) {
        CallSpec spec = SpecOf(dtype, rows);
        spec.scale = scale;
        EXPECT_TRUE(CallMatches(spec)) << scale;
      }
    }
  }
}

TEST(ScoreTest, EveryInnerPrecise) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t inner_precise : {0, 1, 2, 3}) {
      for (const std::int64_t rows : {1, 40}) {
        CallSpec spec = SpecOf(dtype, rows);
        spec.inner_precise = inner_precise;
        spec.mask.mode = 3;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(ScoreTest, LargeScoresAndValues) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 21}) {
      CallSpec spec = SpecOf(dtype, rows);
      spec.query_magnitude = spec.key_magnitude = 60;
      spec.value_magnitude = 1000;
      spec.scale = 1;
      EXPECT_TRUE(CallMatches(spec));
      spec.query_magnitude = spec.key_magnitude = 1e-3;
      spec.value_magnitude = 1e-6;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(BiasTest, EveryShapeAndForm) {
  for (const DataType dtype : kTypes) {
    for (const bool shared : {false, true}) {
      for (const ViewForm form : {ViewForm::kDense, ViewForm::kGaps, ViewForm::kTransposed,
                                  ViewForm::kScattered, ViewForm::kBroadcast}) {
        CallSpec spec = SpecOf(dtype, 6);
        spec.bias.given = true;
        spec.bias.batch_shared = shared;
        spec.bias.form = form;
        spec.bias.row_slack = 2;
        spec.bias.column_slack = 7;
        EXPECT_TRUE(CallMatches(spec));
        spec.query_lengths = {1, 1};
        EXPECT_TRUE(CallMatches(spec));
        spec.query_lengths = {50, 3};
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(BiasTest, JoinsEveryMask) {
  for (const std::int64_t mode : {0, 1, 2, 3, 4}) {
    CallSpec spec = SpecOf(DataType::kBfloat16, 23);
    spec.mask.mode = mode;
    spec.mask.given = mode < 2;
    spec.mask.pre_tokens = 30;
    spec.mask.next_tokens = 9;
    spec.bias.given = true;
    spec.bias.infinite_share = 0.2;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(BiasTest, MinusInfinityMasksWholeRowsToo) {
  for (const double share : {0.5, 1.0}) {
    for (const std::int64_t rows : {1, 8, 33}) {
      CallSpec spec = SpecOf(DataType::kFloat16, rows);
      spec.bias.given = true;
      spec.bias.infinite_share = share;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(BiasTest, PaddedPagedPrefixedAndPacked) {
  CallSpec padded = SpecOf(DataType::kFloat16, 5);
  padded.bias.given = true;
  padded.padding.query = padded.padding.kv = true;
  padded.padding.query_size = 1;
  padded.padding.kv_size = 2;
  padded.query_slack = 3;
  padded.kv_slack = 4;
  EXPECT_TRUE(CallMatches(padded));

  CallSpec paged = SpecOf(DataType::kFloat16, 5);
  paged.bias.given = true;
  paged.storage = KvStorage::kPagedNz;
  EXPECT_TRUE(CallMatches(paged));

  CallSpec prefixed = SpecOf(DataType::kFloat16, 5);
  prefixed.bias.given = true;
  prefixed.prefix.length = 21;
  EXPECT_TRUE(CallMatches(prefixed));

  for (const KvStorage storage : {KvStorage::kTensor, KvStorage::kPagedBnBsH}) {
    for (const bool shared : {false, true}) {
      CallSpec packed = SpecOf(DataType::kFloat16, 5);
      packed.layout = "TND";
      packed.storage = storage;
      packed.bias.given = true;
      packed.bias.batch_shared = shared;
      packed.bias.row_slack = 1;
      EXPECT_TRUE(CallMatches(packed));
    }
  }
}

TEST(SinkTest, JoinsTheSumAndNotTheValues) {
  for (const DataType dtype : kTypes) {
    for (const std::int64_t rows : {1, 5, 40}) {
      for (const std::int64_t mode : {0, 3}) {
        CallSpec spec = SpecOf(dtype, rows);
        spec.sink = true;
        spec.mask.mode = mode;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(SinkTest, FarAboveAndFarBelowTheScores) {
  for (const double sink : {100.0, -100.0, 3000.0, -3000.0}) {
    for (const std::int64_t rows : {1, 9}) {
      CallSpec spec = SpecOf(DataType::kFloat32, rows);
      spec.sink = true;
      spec = With(spec, [sink](const Site& site) -> std::optional<double> {
        if (site.part == Part::kSink) return sink;
        return std::nullopt;
      });
      EXPECT_TRUE(CallMatches(spec)) << sink;
    }
  }
}

TEST(SinkTest, BesideBiasPrefixPaddingAndPages) {
  CallSpec spec = SpecOf(DataType::kBfloat16, 6);
  spec.sink = true;
  spec.bias.given = true;
  spec.prefix.length = 5;
  EXPECT_TRUE(CallMatches(spec));
  spec.prefix.length = 0;
  spec.storage = KvStorage::kPagedBnNBsD;
  EXPECT_TRUE(CallMatches(spec));
}

TEST(RopeTest, AnyDims) {
  for (const std::int64_t dim : {128, 40, 512}) {
    for (const std::int64_t rows : {1, 3, 25}) {
      for (const DataType dtype : kTypes) {
        CallSpec spec = SpecOf(dtype, rows);
        spec.head_dim = dim;
        spec.value_dim = dim == 40 ? 72 : dim;
        spec.rope_dim = 64;
        spec.scale = 0.06;
        spec.mask.mode = 3;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

}  // namespace
}  // namespace fia::testing
