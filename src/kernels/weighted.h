// p . v of the few-rows body: values stream through registers, sums of a block of keys stay in registers.
#ifndef FIA_KERNELS_WEIGHTED_H_
#define FIA_KERNELS_WEIGHTED_H_

#include "kernels/dots.h"
#include "kernels/product.h"
#include "kernels/values.h"

namespace fia::FIA_ISA_NAMESPACE {

// Keys whose values are read once from memory and then, for each block of dims, from the first-level cache.
constexpr std::int64_t kValueKeys = 64;

struct WeightedArgs {
  RowStream values;
  std::int64_t dims = 0;
  bool prefetch = false;
  std::int64_t rows = 0;
  const float* weights = nullptr;  // [rows, weight_stride]
  std::int64_t weight_stride = 0;
  float* sums = nullptr;  // [rows, sum_stride]
  std::int64_t sum_stride = 0;
};

// Packets of dims that are summed together.
constexpr int DimsTogether(int rows) {
  const int sums = kWidth == 16 ? 16 : 8;
  int dims = 8;
  while (dims > 1 && dims * rows > sums) dims /= 2;
  return dims;
}

// sums[row][dim ..] += weights . v over keys begin .. end - 1, kDims packets of dims; the first block of keys
// starts from 0. With kTail the last packet has only `tail` elements.
template <class Element, int kRows, int kDims, bool kTail, bool kClean>
FIA_INLINE void AddWeighted(const WeightedArgs& args, KeyRange keys, bool first, std::int64_t dim,
                            std::int64_t tail, bool prefetch, Packet* seen) {
  Packet sums[kRows][kDims];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) {
      sums[row][d] = first ? Zero() : Load(args.sums + row * args.sum_stride + dim + d * kWidth);
    }
  }
  const std::int64_t distance = kPrefetchBytes / (args.values.row_bytes + 1) + 1;
  for (std::int64_t key = keys.begin; key < keys.end; ++key) {
    if (prefetch) PrefetchAhead(args.values, key, distance);
    const void* value_row = args.values.rows[key];
    Packet value[kDims];
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) {
      value[d] = kTail ? LoadElementsTail<Element>(value_row, dim + d * kWidth, tail)
                       : LoadElements<Element>(value_row, dim + d * kWidth);
      if constexpr (kClean) value[d] = Finite(value[d], seen);
    }
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const Packet weight = Broadcast(args.weights[row * args.weight_stride + key]);
#pragma GCC unroll 8
      for (int d = 0; d < kDims; ++d) sums[row][d] = MultiplyAdd(weight, value[d], sums[row][d]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) Store(args.sums + row * args.sum_stride + dim + d * kWidth, sums[row][d]);
  }
}

// sums = weights . v over `keys`, one chain for each element. Returns whether non-finite values were left
// out.
template <class Element, bool kClean, int kRows>
bool WeightedRowsOf(const WeightedArgs& args, KeyRange keys) {
  constexpr int kDims = DimsTogether(kRows);
  Packet seen = Zero();
  for (std::int64_t key = keys.begin; key < keys.end; key += kValueKeys) {
    const KeyRange block = {key, Smaller(key + kValueKeys, keys.end)};
    const bool first = key == keys.begin;
    std::int64_t dim = 0;
    for (; dim + kDims * kWidth <= args.dims; dim += kDims * kWidth) {
      AddWeighted<Element, kRows, kDims, false, kClean>(args, block, first, dim, 0, args.prefetch && dim == 0,
                                                        &seen);
    }
    for (; dim + kWidth <= args.dims; dim += kWidth) {
      AddWeighted<Element, kRows, 1, false, kClean>(args, block, first, dim, 0, args.prefetch && dim == 0,
                                                    &seen);
    }
    if (dim < args.dims) {
      AddWeighted<Element, kRows, 1, true, kClean>(args, block, first, dim, args.dims - dim, false, &seen);
    }
  }
  return kClean && AnyNan(seen);
}

// All rows, in groups of about the same size.
template <class Element, bool kClean>
bool Weighted(const WeightedArgs& args, KeyRange keys) {
  using Function = bool (*)(const WeightedArgs&, KeyRange);
  static constexpr Function kGroups[kMaxGroup] = {
      &WeightedRowsOf<Element, kClean, 1>, &WeightedRowsOf<Element, kClean, 2>,
      &WeightedRowsOf<Element, kClean, 3>, &WeightedRowsOf<Element, kClean, 4>,
      &WeightedRowsOf<Element, kClean, 5>, &WeightedRowsOf<Element, kClean, 6>,
      &WeightedRowsOf<Element, kClean, 7>, &WeightedRowsOf<Element, kClean, 8>};
  const std::int64_t groups = (args.rows + kMaxGroup - 1) / kMaxGroup;
  WeightedArgs group = args;
  bool non_finite = false;
  for (std::int64_t index = 0; index < groups; ++index) {
    const std::int64_t first_row = args.rows * index / groups;
    group.weights = args.weights + first_row * args.weight_stride;
    group.sums = args.sums + first_row * args.sum_stride;
    non_finite |= kGroups[args.rows * (index + 1) / groups - first_row - 1](group, keys);
    group.prefetch = false;
  }
  return non_finite;
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_WEIGHTED_H_
