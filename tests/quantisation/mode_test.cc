// Every mode and every shape of scales, in every storage they go with.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kRows[] = {1, 3, 30};

CallSpec Antiquant(std::int64_t rows) {
  CallSpec spec;
  spec.kv_dtype = DataType::kInt8;
  spec.quant.flow = QuantFlow::kAntiquant;
  spec.query_lengths = {rows, rows, rows};
  spec.kv_lengths = {70, 13, 300};
  return spec;
}

TEST(AntiquantMode, EveryShapeOfEveryMode) {
  for (const std::int64_t rows : kRows) {
    for (std::int64_t mode = 0; mode <= 5; ++mode) {
      for (int form = 0; form < 7; ++form) {
        CallSpec spec = Antiquant(rows);
        spec.dtype = spec.out_dtype = form % 2 == 0 ? DataType::kFloat16 : DataType::kBfloat16;
        spec.quant.key_mode = spec.quant.value_mode = mode;
        spec.quant.per_channel = true;
        spec.quant.shape_form = form;
        spec.quant.offsets = form % 3 != 0;
        spec.storage = mode >= 4 ? KvStorage::kPagedBnNBsD : KvStorage::kTensor;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(AntiquantMode, OneScaleForAll) {
  for (const std::int64_t rows : kRows) {
    for (const bool combined : {false, true}) {
      CallSpec spec = Antiquant(rows);
      spec.quant.combined = combined;
      spec.quant.offsets = true;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(AntiquantMode, CombinedScales) {
  for (const std::int64_t rows : kRows) {
    for (int form = 0; form < 4; ++form) {
      CallSpec spec = Antiquant(rows);
      spec.quant.combined = spec.quant.per_channel = true;
      spec.quant.shape_form = form;
      spec.quant.offsets = form < 2;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
  CallSpec spec = Antiquant(1);
  spec.quant.combined = spec.quant.offsets = true;
  spec.quant.key_mode = spec.quant.value_mode = 1;
  EXPECT_TRUE(CallMatches(spec));
}

TEST(AntiquantMode, KeysByChannelAndValuesByToken) {
  for (const std::int64_t rows : kRows) {
    for (const bool channel : {false, true}) {
      CallSpec spec = Antiquant(rows);
      spec.quant.per_channel = channel;
      spec.quant.value_mode = 1;
      spec.quant.offsets = true;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(AntiquantMode, EveryStorageOfEveryMode) {
  for (const KvStorage storage :
       {KvStorage::kList, KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz}) {
    const bool paged = storage != KvStorage::kList;
    for (const std::int64_t rows : kRows) {
      for (std::int64_t mode = 0; mode <= (paged ? 5 : 3); ++mode) {
        CallSpec spec = Antiquant(rows);
        spec.storage = storage;
        spec.paged.block_size = 32;
        spec.paged.table_slack = spec.paged.extra_blocks = 2;
        spec.quant.key_mode = spec.quant.value_mode = mode;
        spec.quant.per_channel = spec.quant.offsets = true;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(AntiquantMode, PrefixAndPaddingShareTheScalesOfTheCache) {
  for (const std::int64_t rows : kRows) {
    for (const std::int64_t mode : {0, 1, 3}) {
      CallSpec spec = Antiquant(rows);
      spec.quant.key_mode = spec.quant.value_mode = mode;
      spec.quant.offsets = true;
      spec.quant.scale_slack = 3;
      spec.prefix.length = 21;
      EXPECT_TRUE(CallMatches(spec));
      spec.prefix.length = 0;
      spec.padding.query = spec.padding.kv = true;
      spec.padding.kv_size = 4;
      spec.kv_slack = 9;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(AntiquantMode, Int4InBytesAndInWords) {
  for (const bool words : {false, true}) {
    for (const std::int64_t mode : {0, 1, 3}) {
      for (const char* layout : {"BSH", "BSND", "BNSD", "BNSD_BSND"}) {
        for (const KvStorage storage : {KvStorage::kTensor, KvStorage::kList}) {
          CallSpec spec = Antiquant(1);
          spec.layout = layout;
          spec.storage = storage;
          spec.kv_dtype = DataType::kInt4;
          spec.quant.int4_in_int32 = words;
          spec.quant.key_mode = spec.quant.value_mode = mode;
          spec.quant.per_channel = spec.quant.offsets = true;
          EXPECT_TRUE(CallMatches(spec));
        }
      }
    }
  }
}

CallSpec Int8(std::int64_t rows) {
  CallSpec spec;
  spec.dtype = spec.kv_dtype = DataType::kInt8;
  spec.quant.flow = QuantFlow::kInt8;
  spec.query_lengths = {rows, 2};
  spec.kv_lengths = {300, 77};
  return spec;
}

TEST(Int8Flow, MasksBiasAndScalesOfBothTypes) {
  for (const std::int64_t rows : {2, 16, 40}) {
    for (const std::int64_t mode : {0, 1, 2, 3, 4}) {
      CallSpec spec = Int8(rows);
      spec.mask.mode = mode;
      spec.mask.given = mode < 2;
      if (mode == 4) spec.mask.pre_tokens = 20;
      spec.bias.given = mode % 2 == 1;
      spec.quant.uint64_deq1 = mode > 1;
      spec.quant.uint64_deq2 = mode > 2;
      EXPECT_TRUE(CallMatches(spec));
    }
  }
}

TEST(Int8Flow, LongKeysInt8OutputListsAndPadding) {
  CallSpec spec = Int8(5);
  spec.kv_lengths = {2100, 1};
  spec.threads = 3;
  EXPECT_TRUE(CallMatches(spec));
  spec.out_dtype = DataType::kInt8;
  spec.quant.output = OutputQuant::kTensor;
  spec.quant.output_offset = true;
  EXPECT_TRUE(CallMatches(spec));
  spec.storage = KvStorage::kList;
  EXPECT_TRUE(CallMatches(spec));
  spec.storage = KvStorage::kTensor;
  spec.padding.query = spec.padding.kv = true;
  spec.kv_slack = 3;
  EXPECT_TRUE(CallMatches(spec));
}

TEST(Int8Mla, KeysAroundTheBlocksOfTheWeights) {
  for (const char* layout : {"BSH", "BSND", "TND", "BSH_NBSD", "BSND_NBSD", "TND_NTD"}) {
    for (const std::int64_t keys : {1, 511, 512, 513, 1025}) {
      for (const std::int64_t rows : {1, 2}) {
        CallSpec spec;
        spec.layout = layout;
        spec.dtype = spec.kv_dtype = DataType::kInt8;
        spec.out_dtype = DataType::kBfloat16;
        spec.quant.flow = QuantFlow::kInt8Mla;
        spec.num_heads = 4;
        spec.num_kv_heads = 1;
        spec.head_dim = spec.value_dim = 512;
        spec.rope_dim = 64;
        spec.scale = 0.05;
        spec.storage = KvStorage::kPagedNz;
        spec.paged.block_size = 128;
        spec.value_is_key = keys > 1;
        spec.query_lengths = {rows, 1};
        spec.kv_lengths = {keys, 30};
        spec.mask.mode = rows == 1 ? 0 : 3;
        spec.check = Check::kStrict;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

TEST(Int8Output, EveryShapeOfItsScales) {
  for (const std::int64_t rows : kRows) {
    for (int form = 0; form < 4; ++form) {
      for (const OutputQuant output : {OutputQuant::kTensor, OutputQuant::kChannel}) {
        CallSpec spec;
        spec.dtype = spec.kv_dtype = DataType::kBfloat16;
        spec.out_dtype = DataType::kInt8;
        spec.query_lengths = {rows, rows};
        spec.kv_lengths = {40, 270};
        spec.lse = false;
        spec.quant.output = output;
        spec.quant.output_shape_form = form;
        spec.quant.output_offset = form % 2 == 1;
        spec.quant.output_scale_dtype = form < 2 ? DataType::kFloat32 : DataType::kBfloat16;
        EXPECT_TRUE(CallMatches(spec));
      }
    }
  }
}

}  // namespace
}  // namespace fia::testing
