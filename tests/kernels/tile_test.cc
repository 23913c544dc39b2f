// Tiles of every body, type and feature against plain loops.
#include <gtest/gtest.h>

#include "cpu/isa.h"
#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

constexpr KvType kTypes[] = {KvType::kFloat16, KvType::kBfloat16, KvType::kFloat32, KvType::kInt8,
                             KvType::kInt4};

void Check(const TileCase& spec) {
  ASSERT_NE(ActiveKernels(), nullptr);
  const TileData data(spec);
  ExpectRight(data, RunTiles(*ActiveKernels(), data));
}

TileCase CaseOf(Body body, KvType kv) {
  TileCase spec;
  spec.body = body;
  spec.kv = kv;
  if (TakesBfloat16Alone(body)) spec.query = DataType::kBfloat16;
  if (kv == KvType::kInt8) spec.scale = 0.002f;
  if (kv == KvType::kInt4) spec.scale = 0.02f;
  return spec;
}

// Calls `check` with every body and cache type that there is.
template <class Function>
void ForAll(Function check) {
  for (Body body : kBodies) {
    for (KvType kv : kTypes) {
      if (!HasBody(*ActiveKernels(), body, kv)) continue;
      check(CaseOf(body, kv));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(TileTest, HeadDims) {
  ForAll([](TileCase spec) {
    spec.tiles = {19};
    spec.rows = 3;
    for (std::int64_t dim = 1; dim <= 33; ++dim) {
      spec.head_dim = spec.value_dim = dim;
      Check(spec);
    }
    for (std::int64_t dim : {48, 64, 80, 96, 112, 128, 192, 576, 1030}) {
      spec.head_dim = dim;
      spec.value_dim = dim == 192 ? 128 : dim == 576 ? 512 : dim;
      spec.scale = static_cast<float>(0.1 / static_cast<double>(dim));
      Check(spec);
    }
  });
}

TEST(TileTest, Rows) {
  ForAll([](TileCase spec) {
    for (std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 29, 255, 256}) {
      if (spec.body == Body::kFewRows && rows > 16) break;
      spec.rows = rows;
      spec.band = Band::kCausal;
      spec.tiles = {rows > 100 ? 64 : 37};
      spec.head_dim = spec.value_dim = 40;
      Check(spec);
    }
  });
}

TEST(TileTest, Keys) {
  ForAll([](TileCase spec) {
    for (std::int64_t keys :
         {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 511, 512}) {
      spec.tiles = {keys};
      spec.head_dim = 32;
      spec.value_dim = 24;
      Check(spec);
    }
  });
}

TEST(TileTest, SeveralTiles) {
  ForAll([](TileCase spec) {
    spec.tiles = {64, 64, 64, 17};
    spec.spread = 2;
    for (Band band : {Band::kAll, Band::kCausal, Band::kRandom}) {
      spec.band = band;
      for (std::int64_t rows : {1, 5, 16}) {
        spec.rows = rows;
        spec.seed += 1;
        Check(spec);
      }
    }
  });
}

TEST(TileTest, MasksAndBiases) {
  ForAll([](TileCase spec) {
    spec.rows = 6;
    spec.tiles = {48, 21};
    for (DataType bias :
         {DataType::kUndefined, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32}) {
      for (int bits = 0; bits < 16; ++bits) {
        spec.bias = bias;
        spec.bias_holes = bias != DataType::kUndefined && (bits & 1) != 0;
        spec.mask = (bits & 2) != 0;
        spec.strided = (bits & 4) != 0;
        spec.band = (bits & 8) != 0 ? Band::kRandom : Band::kAll;
        spec.hostile = true;
        spec.seed += 1;
        Check(spec);
      }
    }
  });
}

TEST(TileTest, Rope) {
  ForAll([](TileCase spec) {
    for (DataType rope : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32}) {
      if (TakesBfloat16Alone(spec.body) && rope != DataType::kBfloat16) continue;
      for (std::int64_t rope_dim : {64, 5}) {
        spec.rope = rope;
        spec.rope_dim = rope_dim;
        spec.band = Band::kCausal;
        spec.hostile = true;
        spec.rows = 5;
        spec.tiles = {40, 9};
        for (std::int64_t dim : {128, 41}) {
          spec.head_dim = dim;
          Check(spec);
        }
      }
    }
  });
}

TEST(TileTest, Factors) {
  ForAll([](TileCase spec) {
    if (TakesBfloat16Alone(spec.body)) return;
    spec.tiles = {33, 18};
    for (int bits = 0; bits < 64; ++bits) {
      spec.row_scale = (bits & 1) != 0;
      spec.row_offset = (bits & 2) != 0;
      spec.key_scale = (bits & 4) != 0;
      spec.key_offset = (bits & 8) != 0 && spec.row_offset;
      spec.value_scale = (bits & 16) != 0;
      spec.value_offset = (bits & 32) != 0;
      spec.band = Band::kRandom;
      spec.hostile = true;
      spec.seed += 1;
      Check(spec);
    }
  });
}

TEST(TileTest, Int8Weights) {
  for (Body body : {Body::kFewRows, Body::kManyRows}) {
    TileCase spec = CaseOf(body, KvType::kInt8);
    spec.query = DataType::kInt8;
    spec.scale = 2e-5f;
    spec.row_scale = true;
    spec.rows = 9;
    spec.tiles = {512, 100};
    spec.head_dim = spec.value_dim = 128;
    spec.band = Band::kCausal;
    for (std::int64_t rope_dim : {0, 64}) {
      spec.rope_dim = rope_dim;
      spec.weights = Weights::kBlockInt8;
      Check(spec);
      spec.weights = Weights::kFixedMaxInt8;
      for (float weight_scale : {127.0f, 300.0f, 1.0f}) {
        spec.weight_scale = weight_scale;
        Check(spec);
      }
    }
  }
}

TEST(TileTest, LargeScores) {
  ForAll([](TileCase spec) {
    spec.tiles = {70, 70};
    for (double spread : {0.01, 5.0, 30.0}) {
      spec.spread = spread;
      for (float scale : {1.0f, -0.3f, 0.0f}) {
        spec.scale = scale;
        Check(spec);
      }
    }
  });
}

}  // namespace
}  // namespace fia::testing
