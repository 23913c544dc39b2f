// The body for many rows (prefill, MLA). Keys and values of the tile are converted once into panels of
// float32, or of pairs of bfloat16 for the products that take those; then every block of kBlockRows rows runs
// scores, softmax and weighted values while its scores stay in the first-level cache and the panels in the
// second.
#ifndef FIA_KERNELS_MANY_ROWS_H_
#define FIA_KERNELS_MANY_ROWS_H_

#include "kernels/panels.h"
#include "kernels/scratch.h"

namespace fia::FIA_ISA_NAMESPACE {

// Adds the non-finite values that the panels do not hold; null when there are none.
using NonFiniteFunction = void (*)(const TileArgs& args, const WeightedRows& block);

// All but the packing, for any element type.
template <Body kBody>
void RunRowBlocks(const TileArgs& args, NonFiniteFunction add_non_finite);

extern template void RunRowBlocks<Body::kManyRows>(const TileArgs& args, NonFiniteFunction add_non_finite);
#if defined(FIA_BFLOAT16_DOT)
extern template void RunRowBlocks<Body::kBfloat16Scores>(const TileArgs& args,
                                                         NonFiniteFunction add_non_finite);
extern template void RunRowBlocks<Body::kBfloat16>(const TileArgs& args, NonFiniteFunction add_non_finite);
#endif

// Packs the rope part of the keys.
void PackRope(const TileArgs& args, KeyRange range, float* panels);

template <class Element, Body kBody>
void PackTileKeys(const TileArgs& args, KeyRange range, float* panels) {
  const TileShape& shape = args.shape;
  const std::int64_t panel_slots = PlaceManyRows(kBody, shape).key_slots;
  if constexpr (PairedKeys(kBody)) {
    PackKeyPairs(args.key_rows, range, shape.head_dim, 0, panel_slots, panels);
    if (args.rope_rows == nullptr) return;
    PackKeyPairs(args.rope_rows, range, shape.rope_dim, Slots(shape.head_dim, true), panel_slots, panels);
  } else {
    PackKeys<Element>(args.key_rows, range, shape.head_dim, 0, panel_slots, panels);
    if (args.rope_rows != nullptr) PackRope(args, range, panels);
  }
}

// Returns whether non-finite values were left out.
template <class Element, Body kBody, bool kClean>
bool PackTileValues(const TileArgs& args, KeyRange range, float* panels) {
  const TileShape& shape = args.shape;
  const std::int64_t panel_slots = PlaceManyRows(kBody, shape).value_slots;
  if constexpr (PairedValues(kBody)) {
    return PackValuePairs<kClean>(args.value_rows, range, shape.value_dim, panel_slots, panels);
  } else {
    return PackValues<Element, kClean>(args.value_rows, range, shape.value_dim, panel_slots, panels);
  }
}

template <class Element, Body kBody = Body::kManyRows>
void TileManyRows(const TileArgs& args) {
  const KeyRange range = RangeOfRows(args, 0, args.rows);
  if (range.begin >= range.end) return;
  const ManyRowsScratch place = PlaceManyRows(kBody, args.shape);
  float* scratch = static_cast<float*>(args.scratch);
  PackTileKeys<Element, kBody>(args, range, scratch + place.keys);
  bool non_finite = false;
  if (args.weights != Weights::kMaxOnly) {
    if (!Element::kMayBeNonFinite || AttendsAll(args, range)) {
      PackTileValues<Element, kBody, false>(args, range, scratch + place.values);
    } else {
      non_finite = PackTileValues<Element, kBody, true>(args, range, scratch + place.values);
    }
  }
  RunRowBlocks<kBody>(args, non_finite ? &AddNonFinite<Element> : nullptr);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_MANY_ROWS_H_
