// The body for many rows (prefill, MLA). Keys and values of the tile are converted once into float32 panels;
// then every block of kBlockRows rows runs scores, softmax and weighted values while its scores stay in the
// first-level cache and the panels in the second.
#ifndef FIA_KERNELS_MANY_ROWS_H_
#define FIA_KERNELS_MANY_ROWS_H_

#include "kernels/panels.h"
#include "kernels/scratch.h"

namespace fia::FIA_ISA_NAMESPACE {

// Adds the non-finite values that the panels do not hold; null when there are none.
using NonFiniteFunction = void (*)(const TileArgs& args, const WeightedRows& block);

// All but the packing, for any element type.
void RunRowBlocks(const TileArgs& args, NonFiniteFunction add_non_finite);

// Packs the rope part of the keys.
void PackRope(const TileArgs& args, KeyRange range, float* panels);

template <class Element>
void TileManyRows(const TileArgs& args) {
  const KeyRange range = RangeOfRows(args, 0, args.rows);
  if (range.begin >= range.end) return;
  const TileShape& shape = args.shape;
  const ManyRowsScratch place = PlaceManyRows(shape);
  float* scratch = static_cast<float*>(args.scratch);
  PackKeys<Element>(args.key_rows, range, shape.head_dim, 0, shape.head_dim + shape.rope_dim,
                    scratch + place.keys);
  if (args.rope_rows != nullptr) PackRope(args, range, scratch + place.keys);
  bool non_finite = false;
  if (args.weights != Weights::kMaxOnly) {
    float* values = scratch + place.values;
    if (!Element::kMayBeNonFinite || AttendsAll(args, range)) {
      PackValues<Element, false>(args.value_rows, range, shape.value_dim, shape.keys, values);
    } else {
      non_finite = PackValues<Element, true>(args.value_rows, range, shape.value_dim, shape.keys, values);
    }
  }
  RunRowBlocks(args, non_finite ? &AddNonFinite<Element> : nullptr);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_MANY_ROWS_H_
