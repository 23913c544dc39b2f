// Keys and values of a tile, converted once and laid out for the product.
#ifndef FIA_KERNELS_PANELS_H_
#define FIA_KERNELS_PANELS_H_

#include "kernels/product.h"
#include "kernels/row_stream.h"
#include "kernels/values.h"

namespace fia::FIA_ISA_NAMESPACE {

// Writes slots first_slot .. first_slot + slots - 1 of the panels [keys / kPanel][panel_slots][kPanel] that
// hold keys `range`, transposing kWidth keys by kWidth slots at a time. `load` gives a packet of a key's
// slots, which are elements or pairs of them; columns of other keys become 0. Asks for the same line of the
// next kWidth rows meanwhile: so many rows abreast are more than the processor foresees.
template <class Element, class Load>
FIA_INLINE void TransposeKeys(const void* const* rows, KeyRange range, std::int64_t slots,
                              std::int64_t first_slot, std::int64_t panel_slots, float* panels, Load load) {
  const std::int64_t begin = range.begin / kWidth * kWidth;
  const std::int64_t end = Padded(range.end, kPanel);
  for (std::int64_t key = begin / kPanel * kPanel; key < end; key += kWidth) {
    float* to = panels + (key / kPanel * panel_slots + first_slot) * kPanel + key % kPanel;
    for (std::int64_t slot = 0; slot < slots; slot += kWidth) {
      if (slot % (kLineBytes * 8 / Element::kBits) == 0) {
        for (std::int64_t next = key + kWidth; next < Smaller(key + 2 * kWidth, range.end); ++next) {
          Prefetch(static_cast<const unsigned char*>(rows[next]) + slot * Element::kBits / 8);
        }
      }
      packets::PacketBlock<Packet, kWidth> block;
      for (int lane = 0; lane < kWidth; ++lane) {
        const bool held = key + lane >= range.begin && key + lane < range.end;
        block.packet[lane] = held ? load(rows[key + lane], slot) : Zero();
      }
      packets::ptranspose(block);
      const std::int64_t count = Smaller(kWidth, slots - slot);
      for (std::int64_t lane = 0; lane < count; ++lane)
        Store(to + (slot + lane) * kPanel, block.packet[lane]);
    }
  }
}

// `dim` elements of each key as float32.
template <class Element>
void PackKeys(const void* const* rows, KeyRange range, std::int64_t dim, std::int64_t first_dim,
              std::int64_t panel_dims, float* panels) {
  const auto load = [dim](const void* row, std::int64_t d) {
    return LoadElementsWithin<Element>(row, d, dim);
  };
  TransposeKeys<Element>(rows, range, dim, first_dim, panel_dims, panels, load);
}

// `dim` bfloat16 elements of each key as pairs, whose bits pass for a float32; half a pair has 0 beside it.
inline void PackKeyPairs(const void* const* rows, KeyRange range, std::int64_t dim, std::int64_t first_slot,
                         std::int64_t panel_slots, float* panels) {
  const auto load = [dim](const void* row, std::int64_t slot) {
    if (2 * (slot + kWidth) <= dim) return LoadElements<Float32Element>(row, slot);
    unsigned char bytes[kWidth * 4] = {};
    std::memcpy(bytes, static_cast<const unsigned char*>(row) + slot * 4,
                static_cast<std::size_t>(2 * (dim - 2 * slot)));
    return Float32Element::Load(bytes);
  };
  TransposeKeys<Float32Element>(rows, range, (dim + 1) / 2, first_slot, panel_slots, panels, load);
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

// The same for values of bfloat16 in panels [dim / kPanel][panel_slots][kPanel] of pairs of keys; a key
// outside `range` is 0 beside its neighbour.
template <bool kClean>
bool PackValuePairs(const void* const* rows, KeyRange range, std::int64_t dim, std::int64_t panel_slots,
                    float* panels) {
  Packet seen = Zero();
  for (std::int64_t key = range.begin / 2 * 2; key < range.end; key += 2) {
    for (std::int64_t d = 0; d < dim; d += kWidth) {
      Packet pair[2] = {Zero(), Zero()};
      for (int i = 0; i < 2; ++i) {
        if (key + i < range.begin || key + i >= range.end) continue;
        pair[i] = LoadElementsWithin<Bfloat16Element>(rows[key + i], d, dim);
        if constexpr (kClean) pair[i] = Finite(pair[i], &seen);
      }
      const IntPacket low = packets::plogical_shift_right<16>(packets::preinterpret<IntPacket>(pair[0]));
      const IntPacket both = packets::por(low, packets::preinterpret<IntPacket>(pair[1]));
      Store(panels + (d / kPanel * panel_slots + key / 2) * kPanel + d % kPanel,
            packets::preinterpret<Packet>(both));
    }
  }
  return kClean && AnyNan(seen);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_PANELS_H_
