// Tiles made from a description: rows of exactly their own bytes, a run of the kernels over one or more tiles
// of a sequence, and the same in plain double loops with a bound for each element.
#ifndef FIA_TESTS_KERNELS_TILE_CASE_H_
#define FIA_TESTS_KERNELS_TILE_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/kernel_table.h"
#include "support/rng.h"

namespace fia::testing {

enum class Band : std::int32_t { kAll, kCausal, kRandom };

struct TileCase {
  Body body = Body::kFewRows;
  KvType kv = KvType::kFloat16;
  std::int64_t rows = 4;
  std::vector<std::int64_t> tiles = {32};  // keys of each tile
  std::int64_t head_dim = 64;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 64;
  DataType query = DataType::kFloat16;
  DataType rope = DataType::kBfloat16;
  float scale = 0.125f;
  double spread = 1;  // of q and k
  Band band = Band::kAll;
  DataType bias = DataType::kUndefined;  // kUndefined: none
  double bias_spread = 2;
  bool bias_holes = false;  // some biases are -inf
  bool mask = false;
  bool strided = false;  // query, bias and mask elements lie apart
  bool row_scale = false;
  bool row_offset = false;
  bool key_scale = false;
  bool key_offset = false;
  bool value_scale = false;
  bool value_offset = false;
  Weights weights = Weights::kFloat;
  float weight_scale = 1;
  bool hostile = false;  // keys and values that no row attends hold NaN, those of some rows an infinite value
  std::uint64_t seed = 1;

  std::int64_t keys() const;
};

std::string ToText(const TileCase& spec);

// An array of rows, each in a heap block of exactly its own bytes.
class RowBlocks {
 public:
  // `count` rows of `size` elements of `type`, `stride` elements apart (the last one ends its block).
  RowBlocks(std::int64_t count, std::int64_t size, DataType type, std::int64_t stride = 1);

  double Get(std::int64_t row, std::int64_t index) const;
  void Set(std::int64_t row, std::int64_t index, double value);  // rounded to the type
  const void* const* rows() const { return pointers_.data(); }
  std::int64_t stride_bytes() const;
  DataType type() const { return type_; }

 private:
  DataType type_;
  std::int64_t stride_;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::vector<const void*> pointers_;
};

// A softmax state that owns its memory; acc rows are padded as the contract asks, no more.
class OwnedState {
 public:
  OwnedState(std::int64_t rows, std::int64_t value_dim);
  SoftmaxState view();

  std::vector<float> row_max;
  std::vector<double> row_sum;
  std::vector<float> offset_sum;
  std::vector<float> acc;
  std::int64_t acc_stride;
};

// The inputs of a case.
struct TileData {
  explicit TileData(const TileCase& spec);

  // Whether row `row` attends key `key`, by band, mask and bias.
  bool Attends(std::int64_t row, std::int64_t key) const;

  TileCase spec;
  RowBlocks query, query_rope, key, key_rope, value, bias, mask;
  std::vector<float> row_scale, row_offset, key_scale, key_offset, value_scale, value_offset;
  std::vector<std::int64_t> begin, end;  // the band of each row, over all keys

 private:
  void FillBand(Rng& rng);
  void FillHostile(Rng& rng);
};

// Whether the kernels have this body for a cache of this type.
inline bool HasBody(const KernelTable& kernels, Body body, KvType kv) {
  return kernels.tile[static_cast<int>(body)][static_cast<int>(kv)] != nullptr;
}

// The bodies that multiply pairs of bfloat16, and so take nothing else.
inline bool TakesBfloat16Alone(Body body) { return body == Body::kBfloat16Scores || body == Body::kBfloat16; }

// Runs rows `first_row` .. of all tiles; rows of a case that are not asked for are not there for the kernels.
OwnedState RunTiles(const KernelTable& kernels, const TileData& data, std::int64_t first_row,
                    std::int64_t rows);
inline OwnedState RunTiles(const KernelTable& kernels, const TileData& data) {
  return RunTiles(kernels, data, 0, data.spec.rows);
}

// Fails the test where `state` is outside the bounds.
void ExpectRight(const TileData& data, const OwnedState& state);

}  // namespace fia::testing

#endif  // FIA_TESTS_KERNELS_TILE_CASE_H_
