// SSE2, which every x86-64 has: loads and stores of stored element types, 4 at a time.
#ifndef FIA_KERNELS_SIMD_BASELINE_H_
#define FIA_KERNELS_SIMD_BASELINE_H_

#include <emmintrin.h>

#include <cstring>

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

// Four 16-bit elements, zero-extended to 32 bits.
FIA_INLINE __m128i LoadWords(const void* from) {
  return _mm_unpacklo_epi16(_mm_loadl_epi64(static_cast<const __m128i*>(from)), _mm_setzero_si128());
}

// Stores the low 16 bits of four lanes.
FIA_INLINE void StoreWords(void* to, __m128i lanes) {
  const __m128i extended = _mm_srai_epi32(_mm_slli_epi32(lanes, 16), 16);
  _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packs_epi32(extended, extended));
}

FIA_INLINE __m128i SelectInt(__m128i mask, __m128i a, __m128i b) {
  return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}

// Exponent and mantissa moved into place are the value times 2^-112, subnormals too; infinity and NaN get the
// exponent that they have in float32.
FIA_INLINE Packet LoadFloat16(const void* from) {
  const __m128i half = LoadWords(from);
  const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi32(0x7fff));
  const __m128i sign = _mm_slli_epi32(_mm_xor_si128(half, magnitude), 16);
  const __m128 scaled = _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)), _mm_set1_ps(0x1p112f));
  const __m128i special =
      _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)), _mm_set1_epi32(0x7f800000));
  return _mm_or_ps(scaled, _mm_castsi128_ps(_mm_or_si128(special, sign)));
}

FIA_INLINE Packet LoadBfloat16(const void* from) {
  return _mm_castsi128_ps(_mm_slli_epi32(LoadWords(from), 16));
}

FIA_INLINE Packet LoadInt8(const void* from) {
  std::int32_t four;
  std::memcpy(&four, from, sizeof four);
  const __m128i bytes = _mm_cvtsi32_si128(four);
  const __m128i words = _mm_unpacklo_epi8(bytes, bytes);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(words, words), 24));
}

// Every lane masks its own nibble and scales it down; flipping the sign bit first makes the range 0..15.
FIA_INLINE Packet LoadInt4(const void* from) {
  std::uint16_t four;
  std::memcpy(&four, from, sizeof four);
  const __m128i nibbles =
      _mm_and_si128(_mm_set1_epi32(four ^ 0x8888), _mm_set_epi32(0xf000, 0xf00, 0xf0, 0xf));
  const __m128 scale = _mm_set_ps(0x1p-12f, 0x1p-8f, 0x1p-4f, 1.0f);
  return _mm_sub_ps(_mm_mul_ps(_mm_cvtepi32_ps(nibbles), scale), _mm_set1_ps(8.0f));
}

// Results below the normal range are rounded by a float32 addition at 2^-24, the others by an integer one.
FIA_INLINE void StoreFloat16(void* to, Packet value) {
  const __m128i bits = _mm_castps_si128(value);
  const __m128i magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  const __m128i sign = _mm_srli_epi32(_mm_xor_si128(bits, magnitude), 16);
  const __m128i small =
      _mm_sub_epi32(_mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(0.5f))),
                    _mm_set1_epi32(0x3f000000));
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
  const __m128i normal =
      _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(magnitude, odd), _mm_set1_epi32(0xfff - 0x38000000)), 13);
  __m128i half = SelectInt(_mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x38800000)), small, normal);
  half = SelectInt(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x477fefff)), _mm_set1_epi32(0x7c00), half);
  half = SelectInt(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7f800000)), _mm_set1_epi32(0x7e00), half);
  StoreWords(to, _mm_or_si128(half, sign));
}

FIA_INLINE void StoreBfloat16(void* to, Packet value) {
  const __m128i bits = _mm_castps_si128(value);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff)));
  const __m128i quiet = _mm_or_si128(bits, _mm_set1_epi32(0x400000));
  const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(value, value));
  StoreWords(to, _mm_srli_epi32(SelectInt(nan, quiet, rounded), 16));
}

FIA_INLINE Packet LaneSums(const Packet* packets_of_sums) {
  Packet a = packets_of_sums[0], b = packets_of_sums[1], c = packets_of_sums[2], d = packets_of_sums[3];
  _MM_TRANSPOSE4_PS(a, b, c, d);
  return _mm_add_ps(_mm_add_ps(a, c), _mm_add_ps(b, d));
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_BASELINE_H_
