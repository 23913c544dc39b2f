// Where things lie in packed queries and in the scratch of a tile. One function places and, by its end,
// counts.
#ifndef FIA_KERNELS_SCRATCH_H_
#define FIA_KERNELS_SCRATCH_H_

#include "core/kernel_table.h"
#include "kernels/packet.h"
#include "kernels/product.h"

namespace fia::FIA_ISA_NAMESPACE {

// Whether the factors of a product are pairs of bfloat16, each pair in the place of a float.
constexpr bool PairedKeys(Body body) { return body == Body::kBfloat16Scores || body == Body::kBfloat16; }
constexpr bool PairedValues(Body body) { return body == Body::kBfloat16; }
// Floats that `terms` factors take.
FIA_INLINE std::int64_t Slots(std::int64_t terms, bool paired) { return paired ? (terms + 1) / 2 : terms; }

// Packed queries: rows of q, then rope. Few rows: each part starts on a packet. Many rows: the parts touch,
// one product runs over both.
struct QueryLayout {
  std::int64_t rope = 0;    // first float of the rope part
  std::int64_t stride = 0;  // floats from row to row
};

FIA_INLINE QueryLayout LayoutOfQuery(Body body, const TileShape& shape) {
  const bool paired = PairedKeys(body);
  const std::int64_t head_dim = Slots(shape.head_dim, paired);
  const std::int64_t rope_begin = body == Body::kFewRows ? Padded(head_dim) : head_dim;
  return {rope_begin, Padded(rope_begin + Padded(Slots(shape.rope_dim, paired))) + kPad};
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

// With pairs the factors that are multiplied together take half the floats: dims of q . k, keys of p . v.
struct ManyRowsScratch {
  std::int64_t key_slots = 0;    // floats of a column of the key panels: head_dim, then rope_dim
  std::int64_t value_slots = 0;  // floats of a column of the value panels: keys
  std::int64_t pair_stride = 0;  // floats of a row of paired weights, 0 without
  std::int64_t keys = 0;         // [keys / kPanel][key_slots][kPanel]
  std::int64_t values = 0;       // [value_dim / kPanel][value_slots][kPanel]
  std::int64_t scores = 0;       // [kBlockRows, ScoreStride]
  std::int64_t pairs = 0;        // [kBlockRows, pair_stride]
  std::int64_t extra = 0;        // two rows of scores: bias and mask as float32
  std::int64_t end = 0;
};

FIA_INLINE ManyRowsScratch PlaceManyRows(Body body, const TileShape& shape) {
  ManyRowsScratch place;
  place.key_slots = Slots(shape.head_dim, PairedKeys(body)) + Slots(shape.rope_dim, PairedKeys(body));
  place.value_slots = Slots(shape.keys, PairedValues(body));
  place.pair_stride = PairedValues(body) ? Padded(Slots(ScoreStride(shape), true)) + kPad : 0;
  place.values = place.keys + Padded(Padded(shape.keys, kPanel) * place.key_slots);
  place.scores = place.values + Padded(Padded(shape.value_dim, kPanel) * place.value_slots);
  place.pairs = place.scores + Padded(kBlockRows * ScoreStride(shape));
  place.extra = place.pairs + kBlockRows * place.pair_stride;
  place.end = place.extra + 2 * Padded(ScoreStride(shape));
  return place;
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SCRATCH_H_
