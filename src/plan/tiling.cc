#include "plan/tiling.h"

#include <algorithm>
#include <cmath>

#include "plan/placer.h"

namespace fia {
namespace {

// Up to this many rows, streaming keys and values past the rows in registers beats packing them.
constexpr std::int64_t kFewRowsLimit = 16;

// What the arrays of a tile may take in the second-level cache: a little above 1 MiB, because the output
// rows are touched only at a tile's end.
constexpr std::int64_t kTileBytes = 5 << 18;

// Keys of a chunk. Few rows: as many as the second-level cache holds for all heads of a cache that stores them
// token by token, because between chunks the heads take turns.
constexpr std::int64_t kManyRowsChunkKeys = 1024;
constexpr std::int64_t kFewRowsChunkKeys = 256;

// At most this many tiles in a chunk, whose results are joined one after another.
constexpr std::int64_t kChunkTiles = 8;

// The int8 flow of compressed caches quantises the weights against the maximum of 512 keys.
constexpr std::int64_t kInt8MlaKeys = 512;
constexpr std::int64_t kInt8MlaRows = 128;

struct TileSize {
  std::int64_t rows;
  std::int64_t keys;
};

// From the best to what still works for rows of any length.
constexpr TileSize kManyRowsSizes[] = {{256, 256}, {128, 256}, {128, 128}, {64, 128}, {64, 64},
                                       {32, 64},   {32, 32},   {16, 16},   {4, 16},   {1, 16}};
constexpr TileSize kFewRowsSizes[] = {{16, 256}, {16, 128}, {16, 64}, {8, 64}, {4, 32}, {1, 16}};

// Bytes of an element of queries and packed keys, and of packed values.
std::int64_t KeyBytes(Body body) noexcept { return body >= Body::kBfloat16Scores ? 2 : 4; }
std::int64_t ValueBytes(Body body) noexcept { return body == Body::kBfloat16 ? 2 : 4; }

// Queries, output rows, scores and, for many rows, packed keys and values.
bool Fits(const TileSize& size, std::int64_t query_dim, std::int64_t value_dim, Body body) noexcept {
  const std::int64_t packed_keys = body == Body::kFewRows ? 0 : size.keys;
  // Each dim is kept small so that the products cannot overflow; larger ones fit nothing anyway.
  query_dim = std::min(query_dim, kTileBytes);
  value_dim = std::min(value_dim, kTileBytes);
  const std::int64_t row_bytes = KeyBytes(body) * query_dim + 4 * value_dim + 4 * size.keys;
  const std::int64_t key_bytes = KeyBytes(body) * query_dim + ValueBytes(body) * value_dim;
  return size.rows * row_bytes + packed_keys * key_bytes <= kTileBytes;
}

template <std::size_t count>
TileSize ChooseSize(const TileSize (&sizes)[count], std::int64_t query_dim, std::int64_t value_dim,
                    Body body) noexcept {
  for (const TileSize& size : sizes) {
    if (Fits(size, query_dim, value_dim, body)) return size;
  }
  return sizes[count - 1];
}

// Whether all that q . k multiplies is bfloat16 as it is stored. The instruction drops results below 2^-126,
// which a very large scale would bring back.
bool TakesBfloat16(const Problem& problem) noexcept {
  constexpr float kLargestScale = 0x1p64f;
  return problem.flow == Flow::kFloat && problem.query.dtype == DataType::kBfloat16 &&
         (problem.rope_dim == 0 || problem.query_rope.dtype == DataType::kBfloat16) &&
         std::abs(problem.scale) <= kLargestScale;
}

}  // namespace

Body BodyOf(const Plan& plan, const Sequence& sequence) noexcept {
  const Problem& problem = plan.problem;
  if (problem.flow == Flow::kInt8 || problem.flow == Flow::kInt8Mla) return Body::kManyRows;
  if (sequence.query_count * problem.group <= kFewRowsLimit) return Body::kFewRows;
  const Body narrow = problem.narrow ? Body::kBfloat16 : Body::kBfloat16Scores;
  const auto tile = plan.kernels->tile[static_cast<int>(narrow)][static_cast<int>(plan.kv_type)];
  return tile != nullptr && TakesBfloat16(problem) ? narrow : Body::kManyRows;
}

Tiling TilingOf(const Problem& problem, Body body) noexcept {
  const std::int64_t query_dim = problem.head_dim + problem.rope_dim;
  const std::int64_t value_dim = problem.value_dim;
  TileSize size = body == Body::kFewRows ? ChooseSize(kFewRowsSizes, query_dim, value_dim, body)
                                         : ChooseSize(kManyRowsSizes, query_dim, value_dim, body);
  if (problem.flow == Flow::kInt8Mla) size = {kInt8MlaRows, kInt8MlaKeys};
  Tiling tiling;
  tiling.shape = {size.rows, size.keys, problem.head_dim, problem.rope_dim, value_dim};
  const std::int64_t chunk_keys = body == Body::kFewRows ? kFewRowsChunkKeys : kManyRowsChunkKeys;
  tiling.chunk_keys = std::min(chunk_keys, kChunkTiles * size.keys);
  return tiling;
}

StateLayout LayOutState(std::int64_t rows, std::int64_t value_dim, bool offset_sums) {
  constexpr std::int64_t kStrideFloats = 16;
  StateLayout layout;
  Placer placer;
  layout.row_max = placer.Place(rows, sizeof(float));
  layout.row_sum = placer.Place(rows, sizeof(double));
  if (offset_sums) layout.offset_sum = placer.Place(rows, sizeof(float));
  layout.acc_stride = RoundUp(value_dim, kStrideFloats);
  layout.acc = placer.Place(rows, layout.acc_stride, sizeof(float));
  layout.bytes = placer.end();
  return layout;
}

}  // namespace fia
