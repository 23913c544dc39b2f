// q . k of the few-rows body: keys stream through registers, each read and converted once for up to kMaxGroup
// rows.
#ifndef FIA_KERNELS_DOTS_H_
#define FIA_KERNELS_DOTS_H_

#include "kernels/row_stream.h"

namespace fia::FIA_ISA_NAMESPACE {

// Rows that share one read of a key or value.
constexpr int kMaxGroup = 8;
// Elements of one chain of dots: at most 128 terms a lane with the narrowest packets.
constexpr std::int64_t kDotChain = 512;

struct DotArgs {
  RowStream keys;
  std::int64_t first_dim = 0;  // dims first_dim .. first_dim + dims - 1 of each row
  std::int64_t dims = 0;
  bool add = false;  // to the scores
  std::int64_t rows = 0;
  const float* query = nullptr;  // dim 0 of the first row
  std::int64_t query_stride = 0;
  float* scores = nullptr;
  std::int64_t score_stride = 0;
};

// Keys whose sums become scores together: as many as fill the registers for sums.
constexpr int KeysTogether(int rows) {
  const int sums = kWidth == 16 ? 16 : 8;
  int keys = 16;
  while (keys > 1 && keys * rows > sums) keys /= 2;
  return keys;
}

static_assert(KeysTogether(1) <= kPad, "scores have kPad floats of room behind the last key");

// Keys that are read side by side: for few rows one after the other, else as many as share a load of a query
// element.
constexpr int KeysAbreast(int rows) { return rows <= 2 ? 1 : KeysTogether(rows); }

// Adds dims [dim, dim + kWidth) of kKeys keys to their sums.
template <class Element, int kRows, int kKeys, int kStride, bool kTail>
FIA_INLINE void AddProducts(const void* const* keys, const float* query, std::int64_t query_stride,
                            std::int64_t dim, std::int64_t tail, Packet* sums) {
  Packet key[kKeys];
#pragma GCC unroll 8
  for (int k = 0; k < kKeys; ++k) {
    key[k] = kTail ? LoadElementsTail<Element>(keys[k], dim, tail) : LoadElements<Element>(keys[k], dim);
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    const Packet q = Load(query + row * query_stride + dim);
#pragma GCC unroll 8
    for (int k = 0; k < kKeys; ++k) sums[row * kStride + k] = MultiplyAdd(q, key[k], sums[row * kStride + k]);
  }
}

// scores[row][k] = (or +=) q . k of kKeys keys; straight code for 8 packets of dims, so that the processor
// sees far enough ahead to wait for several keys at a time. Lines of `ahead` are asked for, those of
// different keys at different steps.
template <class Element, int kRows, int kKeys>
FIA_INLINE void DotKeys(const DotArgs& args, const void* const* keys, const void* const* ahead,
                        float* scores) {
  constexpr int kSums = (kRows * kKeys + kWidth - 1) / kWidth * kWidth;
  constexpr int kSteps = 8;
  constexpr int kAbreast = KeysAbreast(kRows);
  constexpr int kLine = PacketsOfLine<Element>();
  const std::int64_t end_dim = args.first_dim + args.dims;
  Packet sums[kSums];
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i) sums[i] = Zero();
  std::int64_t dim = args.first_dim;
  for (; dim + kSteps * kWidth <= end_dim; dim += kSteps * kWidth) {
#pragma GCC unroll 16
    for (int first = 0; first < kKeys; first += kAbreast) {
#pragma GCC unroll 8
      for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 8
        for (int k = first; k < first + kAbreast; ++k) {
          if ((step + k) % kLine == 0) PrefetchElement<Element>(ahead[k], dim + step * kWidth);
        }
        AddProducts<Element, kRows, kAbreast, kKeys, false>(keys + first, args.query, args.query_stride,
                                                            dim + step * kWidth, 0, sums + first);
      }
    }
  }
  for (int step = 0; dim + kWidth <= end_dim; ++step, dim += kWidth) {
    for (int k = 0; k < kKeys; ++k) {
      if (step % kLine == 0) PrefetchElement<Element>(ahead[k], dim);
    }
    AddProducts<Element, kRows, kKeys, kKeys, false>(keys, args.query, args.query_stride, dim, 0, sums);
  }
  if (dim < end_dim) {
    AddProducts<Element, kRows, kKeys, kKeys, true>(keys, args.query, args.query_stride, dim, end_dim - dim,
                                                    sums);
  }
  float dots[kSums];
#pragma GCC unroll 8
  for (int i = 0; i < kSums; i += kWidth) Store(dots + i, LaneSums(sums + i));
  for (int row = 0; row < kRows; ++row) {
    float* to = scores + row * args.score_stride;
    for (int k = 0; k < kKeys; ++k) to[k] = args.add ? to[k] + dots[row * kKeys + k] : dots[row * kKeys + k];
  }
}

template <class Element, int kRows>
void DotRows(const DotArgs& args, KeyRange range) {
  constexpr int kKeys = KeysTogether(kRows);
  for (std::int64_t key = range.begin; key < range.end; key += kKeys) {
    const void* const* keys = args.keys.rows + key;
    const void* last_keys[kKeys];  // the last one again in place of those that are missing: scores have room
    if (key + kKeys > range.end) {
      for (int k = 0; k < kKeys; ++k) last_keys[k] = args.keys.rows[Smaller(key + k, range.end - 1)];
      keys = last_keys;
    }
    PrefetchPages(args.keys, key, kKeys);
    const void* room[kKeys];
    const void* const* ahead = RowsAhead(args.keys, key, kKeys, room);
    DotKeys<Element, kRows, kKeys>(args, keys, ahead, args.scores + key);
  }
}

// Keys that are read once from memory and then, for each group of rows, from the first-level cache.
constexpr std::int64_t kDotKeys = 64;

// All rows, in groups of about the same size.
template <class Element>
void Dots(const DotArgs& args) {
  using Function = void (*)(const DotArgs&, KeyRange);
  static constexpr Function kGroups[kMaxGroup] = {
      &DotRows<Element, 1>, &DotRows<Element, 2>, &DotRows<Element, 3>, &DotRows<Element, 4>,
      &DotRows<Element, 5>, &DotRows<Element, 6>, &DotRows<Element, 7>, &DotRows<Element, 8>};
  const std::int64_t groups = (args.rows + kMaxGroup - 1) / kMaxGroup;
  const KeyRange range = args.keys.range;
  const std::int64_t step = groups == 1 ? range.end - range.begin : kDotKeys;
  for (std::int64_t key = range.begin; key < range.end; key += step) {
    const KeyRange block = {key, Smaller(key + step, range.end)};
    DotArgs group = args;
    for (std::int64_t index = 0; index < groups; ++index) {
      const std::int64_t first_row = args.rows * index / groups;
      group.query = args.query + first_row * args.query_stride;
      group.scores = args.scores + first_row * args.score_stride;
      kGroups[args.rows * (index + 1) / groups - first_row - 1](group, block);
      group.keys.distance = 0;
    }
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_DOTS_H_
