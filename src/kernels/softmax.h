// One row of a tile between the two products: dots become scores, scores become weights, the running softmax
// of the row moves on.
#ifndef FIA_KERNELS_SOFTMAX_H_
#define FIA_KERNELS_SOFTMAX_H_

#include "core/kernel_table.h"
#include "kernels/band.h"

namespace fia::FIA_ISA_NAMESPACE {

// What the row's accumulators become: acc = acc * correction + (weights . v) * factor.
struct RowStep {
  float correction;
  float factor;
};

// `scores` holds the dots q . k of keys `range`, and on return the weights of those keys and zeros up to
// whole packets: range.begin is a multiple of kWidth, and there is room up to the next multiple after
// range.end. Updates row_max, row_sum and offset_sum of `row`. `extra` is room for two rows of `scores`.
RowStep SoftmaxRow(const TileArgs& args, std::int64_t row, KeyRange range, float* scores, float* extra);

// The weights that SoftmaxRow leaves, as pairs of bfloat16. Only in sets with FIA_BFLOAT16_DOT.
void NarrowWeights(KeyRange range, const float* weights, float* pairs);

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SOFTMAX_H_
