// q . k of the few-rows body: keys stream through registers, each read and converted once for up to kMaxGroup
// rows.
#ifndef FIA_KERNELS_DOTS_H_
#define FIA_KERNELS_DOTS_H_

#include "kernels/band.h"
#include "kernels/element.h"

namespace fia::FIA_ISA_NAMESPACE {

// Rows that share one read of a key or value.
constexpr int kMaxGroup = 8;
// Elements of one chain of dots: at most 128 terms a lane with the narrowest packets.
constexpr std::int64_t kDotChain = 512;
// How far ahead of their use rows are prefetched.
constexpr std::int64_t kPrefetchBytes = 8192;

// Rows of one kind that are read one after the other; after the last come those of `next`.
struct RowStream {
  const void* const* rows = nullptr;
  KeyRange range = {0, 0};
  const void* const* next = nullptr;  // null: nothing follows
  KeyRange next_range = {0, 0};
  std::int64_t row_bytes = 0;
  std::int64_t next_bytes = 0;
};

// Asks for the row that is read about kPrefetchBytes after row `key`.
FIA_INLINE void PrefetchAhead(const RowStream& stream, std::int64_t key, std::int64_t distance) {
  std::int64_t ahead = key + distance;
  const void* row = nullptr;
  std::int64_t bytes = stream.row_bytes;
  if (ahead < stream.range.end) {
    row = stream.rows[ahead];
  } else {
    ahead += stream.next_range.begin - stream.range.end;
    if (stream.next == nullptr || ahead >= stream.next_range.end) return;
    row = stream.next[ahead];
    bytes = stream.next_bytes;
  }
  const char* address = static_cast<const char*>(row);
  for (std::int64_t offset = 0; offset < bytes; offset += 64) Prefetch(address + offset);
}

struct DotArgs {
  RowStream keys;
  std::int64_t first_dim = 0;  // dims first_dim .. first_dim + dims - 1 of each row
  std::int64_t dims = 0;
  bool prefetch = false;
  bool add = false;  // to the scores
  std::int64_t rows = 0;
  const float* query = nullptr;  // dim 0 of the first row
  std::int64_t query_stride = 0;
  float* scores = nullptr;
  std::int64_t score_stride = 0;
};

// Sums of the lanes of kWidth packets, in order. The additions of each sum are the same in every place.
FIA_INLINE void StoreLaneSums(const Packet* sums, float* to) {
  packets::PacketBlock<Packet, kWidth> block;
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) block.packet[i] = sums[i];
  packets::ptranspose(block);
#pragma GCC unroll 4
  for (int step = kWidth / 2; step > 0; step /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < step; ++i) block.packet[i] = packets::padd(block.packet[i], block.packet[i + step]);
  }
  Store(to, block.packet[0]);
}

// Keys that are taken together: enough sums to hide the latency of additions, few enough for the registers.
constexpr int KeysTogether(int rows) {
  const int sums = kWidth == 16 ? 16 : 8;
  int keys = 8;
  while (keys > 1 && keys * rows > sums) keys /= 2;
  return keys;
}

// Adds dims [dim, dim + kWidth) of kKeys keys to their sums.
template <class Element, int kRows, int kKeys, bool kTail>
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
    for (int k = 0; k < kKeys; ++k) sums[row * kKeys + k] = MultiplyAdd(q, key[k], sums[row * kKeys + k]);
  }
}

template <class Element, int kRows>
void DotRows(const DotArgs& args) {
  constexpr int kKeys = KeysTogether(kRows);
  constexpr int kSums = (kRows * kKeys + kWidth - 1) / kWidth * kWidth;
  const std::int64_t end_dim = args.first_dim + args.dims;
  const KeyRange range = args.keys.range;
  const std::int64_t distance = kPrefetchBytes / (args.keys.row_bytes + 1) + 1;
  for (std::int64_t key = range.begin; key < range.end; key += kKeys) {
    const void* keys[kKeys];
    for (int k = 0; k < kKeys; ++k) {
      keys[k] = args.keys.rows[Smaller(key + k, range.end - 1)];
      if (args.prefetch) PrefetchAhead(args.keys, key + k, distance);
    }
    Packet sums[kSums];
#pragma GCC unroll 32
    for (int i = 0; i < kSums; ++i) sums[i] = Zero();
    std::int64_t dim = args.first_dim;
    for (; dim + kWidth <= end_dim; dim += kWidth) {
      AddProducts<Element, kRows, kKeys, false>(keys, args.query, args.query_stride, dim, 0, sums);
    }
    if (dim < end_dim) {
      AddProducts<Element, kRows, kKeys, true>(keys, args.query, args.query_stride, dim, end_dim - dim, sums);
    }
    float dots[kSums];
#pragma GCC unroll 8
    for (int i = 0; i < kSums; i += kWidth) StoreLaneSums(sums + i, dots + i);
    for (int row = 0; row < kRows; ++row) {
      float* to = args.scores + row * args.score_stride + key;
      for (int k = 0; k < kKeys; ++k)
        to[k] = args.add ? to[k] + dots[row * kKeys + k] : dots[row * kKeys + k];
    }
  }
}

// All rows, in groups of about the same size.
template <class Element>
void Dots(DotArgs args) {
  using Function = void (*)(const DotArgs&);
  static constexpr Function kGroups[kMaxGroup] = {
      &DotRows<Element, 1>, &DotRows<Element, 2>, &DotRows<Element, 3>, &DotRows<Element, 4>,
      &DotRows<Element, 5>, &DotRows<Element, 6>, &DotRows<Element, 7>, &DotRows<Element, 8>};
  const std::int64_t groups = (args.rows + kMaxGroup - 1) / kMaxGroup;
  DotArgs group = args;
  for (std::int64_t index = 0; index < groups; ++index) {
    const std::int64_t first_row = args.rows * index / groups;
    group.query = args.query + first_row * args.query_stride;
    group.scores = args.scores + first_row * args.score_stride;
    kGroups[args.rows * (index + 1) / groups - first_row - 1](group);
    group.prefetch = false;
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_DOTS_H_
