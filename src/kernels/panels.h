// Keys and values of a tile, converted once and laid out for the product.
#ifndef FIA_KERNELS_PANELS_H_
#define FIA_KERNELS_PANELS_H_

#include "kernels/product.h"
#include "kernels/row_stream.h"
#include "kernels/values.h"

namespace fia::FIA_ISA_NAMESPACE {

// Writes dims first_dim .. first_dim + dim - 1 of the panels [keys / kPanel][panel_dims][kPanel] that hold
// keys `range`, transposing kWidth keys by kWidth dims at a time. Columns of other keys become 0. Asks for
// the same line of the next kWidth rows meanwhile: so many rows abreast are more than the processor foresees.
template <class Element>
void PackKeys(const void* const* rows, KeyRange range, std::int64_t dim, std::int64_t first_dim,
              std::int64_t panel_dims, float* panels) {
  const std::int64_t begin = range.begin / kWidth * kWidth;
  const std::int64_t end = Padded(range.end, kPanel);
  for (std::int64_t key = begin / kPanel * kPanel; key < end; key += kWidth) {
    float* to = panels + (key / kPanel * panel_dims + first_dim) * kPanel + key % kPanel;
    for (std::int64_t d = 0; d < dim; d += kWidth) {
      if (d % (kLineBytes * 8 / Element::kBits) == 0) {
        for (std::int64_t next = key + kWidth; next < Smaller(key + 2 * kWidth, range.end); ++next) {
          PrefetchElement<Element>(rows[next], d);
        }
      }
      packets::PacketBlock<Packet, kWidth> block;
      for (int lane = 0; lane < kWidth; ++lane) {
        const bool held = key + lane >= range.begin && key + lane < range.end;
        block.packet[lane] = held ? LoadElementsWithin<Element>(rows[key + lane], d, dim) : Zero();
      }
      packets::ptranspose(block);
      const std::int64_t count = Smaller(kWidth, dim - d);
      for (std::int64_t lane = 0; lane < count; ++lane) Store(to + (d + lane) * kPanel, block.packet[lane]);
    }
  }
}

// Writes keys `range` of the panels [dim / kPanel][panel_keys][kPanel]. With kClean, non-finite values become
// 0 and the result tells whether there were any.
template <class Element, bool kClean>
bool PackValues(const void* const* rows, KeyRange range, std::int64_t dim, std::int64_t panel_keys,
                float* panels) {
  Packet seen = Zero();
  for (std::int64_t key = range.begin; key < range.end; ++key) {
    for (std::int64_t d = 0; d < dim; d += kWidth) {
      Packet value = LoadElementsWithin<Element>(rows[key], d, dim);
      if constexpr (kClean) value = Finite(value, &seen);
      Store(panels + (d / kPanel * panel_keys + key) * kPanel + d % kPanel, value);
    }
  }
  return kClean && AnyNan(seen);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_PANELS_H_
