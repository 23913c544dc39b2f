#include "plan/tiling.h"

#include <algorithm>

#include "plan/placer.h"

namespace fia {
namespace {

// Up to this many rows, streaming keys and values past the rows in registers beats packing them.
constexpr std::int64_t kFewRowsLimit = 16;

// What the arrays of a tile may take in the second-level cache: a little above 1 MiB, because the output
// rows are touched only at a tile's end.
constexpr std::int64_t kTileBytes = 5 << 18;

constexpr std::int64_t kChunkKeys = 1024;

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

// float32 bytes of queries, output rows, scores and, for many rows, of packed keys and values.
bool Fits(const TileSize& size, std::int64_t query_dim, std::int64_t value_dim, Body body) noexcept {
  const std::int64_t packed_keys = body == Body::kManyRows ? size.keys : 0;
  // Each dim is kept small so that the products cannot overflow; larger ones fit nothing anyway.
  const std::int64_t dims = std::min(query_dim, kTileBytes) + std::min(value_dim, kTileBytes);
  return 4 * ((size.rows + packed_keys) * dims + size.rows * size.keys) <= kTileBytes;
}

template <std::size_t count>
TileSize ChooseSize(const TileSize (&sizes)[count], std::int64_t query_dim, std::int64_t value_dim,
                    Body body) noexcept {
  for (const TileSize& size : sizes) {
    if (Fits(size, query_dim, value_dim, body)) return size;
  }
  return sizes[count - 1];
}

}  // namespace

Body BodyOf(const Problem& problem, const Sequence& sequence) noexcept {
  if (problem.flow == Flow::kInt8 || problem.flow == Flow::kInt8Mla) return Body::kManyRows;
  return sequence.query_count * problem.group <= kFewRowsLimit ? Body::kFewRows : Body::kManyRows;
}

Tiling TilingOf(const Problem& problem, Body body) noexcept {
  const std::int64_t query_dim = problem.head_dim + problem.rope_dim;
  const std::int64_t value_dim = problem.value_dim;
  TileSize size = body == Body::kFewRows ? ChooseSize(kFewRowsSizes, query_dim, value_dim, body)
                                         : ChooseSize(kManyRowsSizes, query_dim, value_dim, body);
  if (problem.flow == Flow::kInt8Mla) size = {kInt8MlaRows, kInt8MlaKeys};
  Tiling tiling;
  tiling.shape = {size.rows, size.keys, problem.head_dim, problem.rope_dim, value_dim};
  tiling.chunk_keys = std::min(kChunkKeys, kChunkTiles * size.keys);
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
