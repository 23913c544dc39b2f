// p . v of the few-rows body: values stream through registers, sums of a block of keys stay in registers.
#ifndef FIA_KERNELS_WEIGHTED_H_
#define FIA_KERNELS_WEIGHTED_H_

#include "kernels/dots.h"
#include "kernels/product.h"
#include "kernels/values.h"

namespace fia::FIA_ISA_NAMESPACE {

// Keys whose values are read once from memory and then, for each block of dims, from the first-level cache.
constexpr std::int64_t kValueKeys = 32;

struct WeightedArgs {
  RowStream values;
  std::int64_t dims = 0;
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

// sums[row][d] += weight * value of one key, kDims packets of dims from `dim` on; with kTail the packet has
// only `tail` elements.
template <class Element, int kRows, int kDims, bool kTail, bool kClean>
FIA_INLINE void AddValue(const WeightedArgs& args, const void* const* ahead, std::int64_t key,
                         std::int64_t dim, std::int64_t tail, Packet (&sums)[kRows][kDims], Packet* seen) {
  constexpr int kBytes = kDims * kWidth * Element::kBits / 8;
  const void* value_row = args.values.rows[key];
  if (kBytes >= kLineBytes || dim * Element::kBits / 8 % kLineBytes == 0) {
#pragma GCC unroll 8
    for (int d = 0; d < kDims; d += PacketsOfLine<Element>())
      PrefetchElement<Element>(*ahead, dim + d * kWidth);
  }
  Packet value[kDims];
#pragma GCC unroll 8
  for (int d = 0; d < kDims; ++d) {
    value[d] = kTail ? LoadElementsTail<Element>(value_row, dim, tail)
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

// The same for all keys of `keys`; `first`: the sums start here, from 0.
template <class Element, int kRows, int kDims, bool kTail, bool kClean>
FIA_INLINE void AddValues(const WeightedArgs& args, const void* const* ahead, KeyRange keys, bool first,
                          std::int64_t dim, std::int64_t tail, Packet* seen) {
  constexpr int kKeys = 4;
  Packet sums[kRows][kDims];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) {
      sums[row][d] = first ? Zero() : Load(args.sums + row * args.sum_stride + dim + d * kWidth);
    }
  }
  std::int64_t key = keys.begin;
  for (; key + kKeys <= keys.end; key += kKeys) {
#pragma GCC unroll 4
    for (int k = 0; k < kKeys; ++k) {
      AddValue<Element, kRows, kDims, kTail, kClean>(args, ahead + (key + k - keys.begin), key + k, dim, tail,
                                                     sums, seen);
    }
  }
  for (; key < keys.end; ++key)
    AddValue<Element, kRows, kDims, kTail, kClean>(args, ahead + (key - keys.begin), key, dim, tail, sums,
                                                   seen);
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) Store(args.sums + row * args.sum_stride + dim + d * kWidth, sums[row][d]);
  }
}

// The part of `args.rows` == kRows rows and keys `keys` in all sums; `first`: the sums start here. Returns
// whether non-finite values were left out.
template <class Element, bool kClean, int kRows>
bool WeightedRowsOf(const WeightedArgs& args, KeyRange keys, bool first) {
  constexpr int kDims = DimsTogether(kRows);
  PrefetchPages(args.values, keys.begin, keys.end - keys.begin);
  const void* room[kValueKeys];
  const void* const* ahead = RowsAhead(args.values, keys.begin, keys.end - keys.begin, room);
  Packet seen = Zero();
  std::int64_t dim = 0;
  for (; dim + kDims * kWidth <= args.dims; dim += kDims * kWidth) {
    AddValues<Element, kRows, kDims, false, kClean>(args, ahead, keys, first, dim, 0, &seen);
  }
  for (; dim + kWidth <= args.dims; dim += kWidth) {
    AddValues<Element, kRows, 1, false, kClean>(args, ahead, keys, first, dim, 0, &seen);
  }
  if (dim < args.dims) {
    AddValues<Element, kRows, 1, true, kClean>(args, ahead, keys, first, dim, args.dims - dim, &seen);
  }
  return kClean && AnyNan(seen);
}

// sums = weights . v over `keys`, one chain for each element; all rows, in groups of about the same size.
// Returns whether non-finite values were left out.
template <class Element, bool kClean>
bool Weighted(const WeightedArgs& args, KeyRange keys) {
  using Function = bool (*)(const WeightedArgs&, KeyRange, bool);
  static constexpr Function kGroups[kMaxGroup] = {
      &WeightedRowsOf<Element, kClean, 1>, &WeightedRowsOf<Element, kClean, 2>,
      &WeightedRowsOf<Element, kClean, 3>, &WeightedRowsOf<Element, kClean, 4>,
      &WeightedRowsOf<Element, kClean, 5>, &WeightedRowsOf<Element, kClean, 6>,
      &WeightedRowsOf<Element, kClean, 7>, &WeightedRowsOf<Element, kClean, 8>};
  const std::int64_t groups = (args.rows + kMaxGroup - 1) / kMaxGroup;
  bool non_finite = false;
  for (std::int64_t key = keys.begin; key < keys.end; key += kValueKeys) {
    const KeyRange block = {key, Smaller(key + kValueKeys, keys.end)};
    WeightedArgs group = args;
    for (std::int64_t index = 0; index < groups; ++index) {
      const std::int64_t first_row = args.rows * index / groups;
      const std::int64_t rows = args.rows * (index + 1) / groups - first_row;
      group.weights = args.weights + first_row * args.weight_stride;
      group.sums = args.sums + first_row * args.sum_stride;
      non_finite |= kGroups[rows - 1](group, block, key == keys.begin);
      group.values.distance = 0;
    }
  }
  return non_finite;
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_WEIGHTED_H_
