// Stored element types: how many bits one takes and how kWidth of them become float32. The only place where a
// kernel's code depends on what a row holds.
#ifndef FIA_KERNELS_ELEMENT_H_
#define FIA_KERNELS_ELEMENT_H_

#include <cstring>

#include "kernels/simd.h"

namespace fia::FIA_ISA_NAMESPACE {

struct Float16Element {
  static constexpr int kBits = 16;
  static constexpr bool kMayBeNonFinite = true;
  static FIA_INLINE Packet Load(const void* from) { return LoadFloat16(from); }
};

struct Bfloat16Element {
  static constexpr int kBits = 16;
  static constexpr bool kMayBeNonFinite = true;
  static FIA_INLINE Packet Load(const void* from) { return LoadBfloat16(from); }
};

struct Float32Element {
  static constexpr int kBits = 32;
  static constexpr bool kMayBeNonFinite = true;
  static FIA_INLINE Packet Load(const void* from) {
    Packet value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

struct Int8Element {
  static constexpr int kBits = 8;
  static constexpr bool kMayBeNonFinite = false;
  static FIA_INLINE Packet Load(const void* from) { return LoadInt8(from); }
};

struct Int4Element {
  static constexpr int kBits = 4;
  static constexpr bool kMayBeNonFinite = false;
  static FIA_INLINE Packet Load(const void* from) { return LoadInt4(from); }
};

template <class Element>
FIA_INLINE std::int64_t RowBytes(std::int64_t elements) {
  return (elements * Element::kBits + 7) / 8;
}

// Elements index .. index + kWidth - 1 of a row; index is a multiple of kWidth.
template <class Element>
FIA_INLINE Packet LoadElements(const void* row, std::int64_t index) {
  return Element::Load(static_cast<const unsigned char*>(row) + index * Element::kBits / 8);
}

// The first `count` < kWidth of them, reading nothing else; the other lanes are 0. The last byte of an odd
// number of int4 elements gives its high nibble to one lane more.
template <class Element>
FIA_INLINE Packet LoadElementsTail(const void* row, std::int64_t index, std::int64_t count) {
  unsigned char bytes[kWidth * 4] = {};
  std::memcpy(bytes, static_cast<const unsigned char*>(row) + index * Element::kBits / 8,
              static_cast<std::size_t>(RowBytes<Element>(count)));
  return Element::Load(bytes);
}

// Either of them: element `index` on of a row of `dim` elements.
template <class Element>
FIA_INLINE Packet LoadElementsWithin(const void* row, std::int64_t index, std::int64_t dim) {
  if (index + kWidth <= dim) return LoadElements<Element>(row, index);
  return LoadElementsTail<Element>(row, index, dim - index);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_ELEMENT_H_
