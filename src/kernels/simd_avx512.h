// AVX-512: loads and stores of stored element types, 16 at a time.
#ifndef FIA_KERNELS_SIMD_AVX512_H_
#define FIA_KERNELS_SIMD_AVX512_H_

#include <immintrin.h>

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

FIA_INLINE __m256i Load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

FIA_INLINE Packet LoadFloat16(const void* from) { return _mm512_cvtph_ps(Load256(from)); }

FIA_INLINE Packet LoadBfloat16(const void* from) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(Load256(from)), 16));
}

FIA_INLINE Packet LoadInt8(const void* from) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from))));
}

// Every lane gets the 32 bits that hold its nibble, shifts it to the top and back down with its sign.
FIA_INLINE Packet LoadInt4(const void* from) {
  const __m512i words = _mm512_castsi128_si512(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
  const __m512i word_of_lane = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m512i to_top = _mm512_set_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  const __m512i top = _mm512_sllv_epi32(_mm512_permutexvar_epi32(word_of_lane, words), to_top);
  return _mm512_cvtepi32_ps(_mm512_srai_epi32(top, 28));
}

FIA_INLINE void StoreFloat16(void* to, Packet value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to),
                      _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

FIA_INLINE void StoreBfloat16(void* to, Packet value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  const __m512i high = _mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16);
  _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi32_epi16(high));
}

// Each step joins two packets of half-summed lanes into one: the lanes that stay, blended, plus the others,
// shuffled to where they belong. The first step joins packets i and i + 8, so that the last leaves sum i in
// lane i.
FIA_INLINE Packet LaneSums(const Packet* packets_of_sums) {
  Packet eight[8], four[4], two[2];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const Packet a = packets_of_sums[i], b = packets_of_sums[i + 8];
    eight[i] = _mm512_add_ps(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4(a, b, 0x4e));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Packet a = eight[i], b = eight[i + 4];
    const Packet others = _mm512_mask_blend_ps(0x0f0f, a, b);
    four[i] = _mm512_add_ps(_mm512_mask_blend_ps(0xf0f0, a, b), _mm512_shuffle_f32x4(others, others, 0xb1));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const Packet a = four[i], b = four[i + 2];
    two[i] = _mm512_add_ps(_mm512_mask_blend_ps(0xcccc, a, b), _mm512_shuffle_ps(a, b, 0x4e));
  }
  const Packet others = _mm512_mask_blend_ps(0x5555, two[0], two[1]);
  return _mm512_add_ps(_mm512_mask_blend_ps(0xaaaa, two[0], two[1]), _mm512_permute_ps(others, 0xb1));
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_AVX512_H_
