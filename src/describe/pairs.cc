#include "describe/pairs.h"

#include "core/arguments.h"
#include "describe/strides.h"

namespace fia {
namespace {

// Axis numbers of a full mask, -1 where it has no such axis.
struct MaskAxes {
  int batch;
  int row;
  int key;
};

// Masks of rank 2 are (rows, keys), but for a single query position (sequences, keys).
MaskAxes AxesOfMask(const TensorView& mask, const Call& call) noexcept {
  switch (mask.rank) {
    case 2:
      return call.query_axis == 1 ? MaskAxes{0, -1, 1} : MaskAxes{-1, 0, 1};
    case 3:
      return {0, 1, 2};
    default:
      return {0, 2, 3};
  }
}

}  // namespace

void DescribePairs(const AttentionParams& params, const Call& call, Problem* problem) noexcept {
  if (call.has_mask) {
    const TensorView& view = params.mask->tensor;
    const MaskAxes axes = AxesOfMask(view, call);
    PairTensor& mask = problem->mask;
    mask.slot = AddressSlot(Argument::kAttenMask, 0, 1);
    mask.dtype = view.dtype;
    mask.row_stride = AxisBytes(view, axes.row);
    mask.key_stride = AxisBytes(view, axes.key);
  }
  if (call.has_bias) {
    const TensorView& view = params.scores.pse_shift;  // (B or 1, N, rows, keys)
    PairTensor& bias = problem->bias;
    bias.slot = AddressSlot(Argument::kPseShift, 0, 1);
    bias.dtype = view.dtype;
    bias.head_stride = AxisBytes(view, 1);
    bias.row_stride = AxisBytes(view, 2);
    bias.key_stride = AxisBytes(view, 3);
  }
}

std::int64_t MaskStep(const AttentionParams& params, const Call& call) noexcept {
  if (!call.has_mask) return 0;
  return AxisBytes(params.mask->tensor, AxesOfMask(params.mask->tensor, call).batch);
}

std::int64_t BiasStep(const AttentionParams& params, const Call& call) noexcept {
  return call.has_bias ? AxisBytes(params.scores.pse_shift, 0) : 0;
}

void DescribeBand(const Call& call, Sequence* sequence) noexcept {
  sequence->band_low = -kUnbounded;
  sequence->band_high = kUnbounded;
  const std::int64_t shift = sequence->key_count - sequence->query_count;  // aligns the last row and key
  switch (call.sparse_mode) {
    case 0:
      // The tokens count from the top left corner; a decode call's mask and left padding put them out of use.
      if (call.decode || !call.has_mask || call.query_left_padded || call.kv_left_padded) return;
      sequence->band_low = -call.pre_tokens;
      sequence->band_high = call.next_tokens;
      return;
    case 2:
      sequence->band_high = 0;
      return;
    case 3:
      sequence->band_high = shift;
      return;
    case 4:
      sequence->band_low = shift - call.pre_tokens;
      sequence->band_high = shift + call.next_tokens;
      return;
    default:  // mode 1: the mask alone
      return;
  }
}

}  // namespace fia
