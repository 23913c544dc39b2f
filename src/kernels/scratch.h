// Where things lie in packed queries and in the scratch of a tile. One function places and, by its end,
// counts.
#ifndef FIA_KERNELS_SCRATCH_H_
#define FIA_KERNELS_SCRATCH_H_

#include "core/kernel_table.h"
#include "kernels/packet.h"
#include "kernels/product.h"

namespace fia::FIA_ISA_NAMESPACE {

// Packed queries: float32 rows of q, then rope. Few rows: each part starts on a packet. Many rows: the parts
// touch, one product runs over both.
struct QueryLayout {
  std::int64_t rope = 0;    // first float of the rope part
  std::int64_t stride = 0;  // floats from row to row
};

FIA_INLINE QueryLayout LayoutOfQuery(Body body, const TileShape& shape) {
  const std::int64_t rope_begin = body == Body::kFewRows ? Padded(shape.head_dim) : shape.head_dim;
  return {rope_begin, Padded(rope_begin + Padded(shape.rope_dim)) + kPad};
}

// Floats from row to row of scores; the slack keeps rows out of the same cache sets and takes whole packets.
FIA_INLINE std::int64_t ScoreStride(const TileShape& shape) { return Padded(shape.keys, kPanel) + kPad; }

// Offsets in floats, each a multiple of kPad.
struct FewRowsScratch {
  std::int64_t scores = 0;  // [rows, ScoreStride]
  std::int64_t extra = 0;   // two rows of scores: bias and mask as float32
  std::int64_t sums = 0;    // [rows, Padded(value_dim)] weighted values of one block of keys
  std::int64_t end = 0;
};

FIA_INLINE FewRowsScratch PlaceFewRows(const TileShape& shape) {
  FewRowsScratch place;
  place.extra = place.scores + Padded(shape.rows * ScoreStride(shape));
  place.sums = place.extra + 2 * Padded(ScoreStride(shape));
  place.end = place.sums + shape.rows * Padded(shape.value_dim);
  return place;
}

struct ManyRowsScratch {
  std::int64_t keys = 0;    // [keys / kPanel][head_dim + rope_dim][kPanel]
  std::int64_t values = 0;  // [value_dim / kPanel][keys][kPanel]
  std::int64_t scores = 0;  // [kBlockRows, ScoreStride]
  std::int64_t extra = 0;   // two rows of scores: bias and mask as float32
  std::int64_t end = 0;
};

FIA_INLINE ManyRowsScratch PlaceManyRows(const TileShape& shape) {
  ManyRowsScratch place;
  place.values = place.keys + Padded(Padded(shape.keys, kPanel) * (shape.head_dim + shape.rope_dim));
  place.scores = place.values + Padded(Padded(shape.value_dim, kPanel) * shape.keys);
  place.extra = place.scores + Padded(kBlockRows * ScoreStride(shape));
  place.end = place.extra + 2 * Padded(ScoreStride(shape));
  return place;
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SCRATCH_H_
