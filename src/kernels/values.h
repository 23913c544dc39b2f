// Infinite and NaN values: the products take 0 in their place, so that a weight of 0 keeps them away, and the
// rows that attend them get them afterwards.
#ifndef FIA_KERNELS_VALUES_H_
#define FIA_KERNELS_VALUES_H_

#include "kernels/band.h"
#include "kernels/element.h"
#include "kernels/softmax.h"

namespace fia::FIA_ISA_NAMESPACE {

// Value with its non-finite lanes made 0. *seen becomes NaN where there were any.
FIA_INLINE Packet Finite(Packet value, Packet* seen) {
  const Packet difference = packets::psub(value, value);  // 0 or NaN
  *seen = packets::padd(*seen, difference);
  return packets::pand(packets::pcmp_eq(difference, Zero()), value);
}

FIA_INLINE bool AnyNan(Packet seen) {
  const float sum = packets::predux(seen);
  return sum != sum;
}

// Rows of weights of a tile and where their products go.
struct WeightedRows {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  KeyRange range = {0, 0};
  const float* weights = nullptr;  // [rows, weight_stride]
  std::int64_t weight_stride = 0;
  const RowStep* steps = nullptr;  // [rows]
  const float* pairs = nullptr;    // [rows, pair_stride] pairs of the same as bfloat16, where v is paired
  std::int64_t pair_stride = 0;
};

// acc += weight * factor * v over the non-finite v of `range` and the rows whose weight is not 0.
template <class Element>
void AddNonFinite(const TileArgs& args, const WeightedRows& block) {
  const std::int64_t dims = args.shape.value_dim;
  for (std::int64_t key = block.range.begin; key < block.range.end; ++key) {
    for (std::int64_t dim = 0; dim < dims; dim += kWidth) {
      const Packet value = LoadElementsWithin<Element>(args.value_rows[key], dim, dims);
      Packet seen = Zero();
      const Packet finite = Finite(value, &seen);
      if (!AnyNan(seen)) continue;
      const Packet rest = Select(packets::pcmp_eq(finite, value), Zero(), value);
      for (std::int64_t row = 0; row < block.rows; ++row) {
        const float weight = block.weights[row * block.weight_stride + key] * block.steps[row].factor;
        if (weight == 0.0f) continue;
        float* acc = args.state.acc + (block.first_row + row) * args.state.acc_stride + dim;
        Store(acc, MultiplyAdd(Broadcast(weight), rest, Load(acc)));
      }
    }
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_VALUES_H_
