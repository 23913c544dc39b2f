// AVX2 with F16C: loads and stores of stored element types, 8 at a time.
#ifndef FIA_KERNELS_SIMD_AVX2_H_
#define FIA_KERNELS_SIMD_AVX2_H_

#include <immintrin.h>

#include <cstring>

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

FIA_INLINE __m128i Load128(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

FIA_INLINE Packet LoadFloat16(const void* from) { return _mm256_cvtph_ps(Load128(from)); }

FIA_INLINE Packet LoadBfloat16(const void* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(Load128(from)), 16));
}

FIA_INLINE Packet LoadInt8(const void* from) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from))));
}

// Every lane gets all eight nibbles, shifts its own to the top and back down with its sign.
FIA_INLINE Packet LoadInt4(const void* from) {
  std::int32_t nibbles;
  std::memcpy(&nibbles, from, sizeof nibbles);
  const __m256i to_top = _mm256_set_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  const __m256i top = _mm256_sllv_epi32(_mm256_set1_epi32(nibbles), to_top);
  return _mm256_cvtepi32_ps(_mm256_srai_epi32(top, 28));
}

FIA_INLINE void StoreFloat16(void* to, Packet value) {
  _mm_storeu_si128(static_cast<__m128i*>(to),
                   _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

FIA_INLINE void StoreBfloat16(void* to, Packet value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan)), 16);
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
  _mm_storeu_si128(static_cast<__m128i*>(to), packed);
}

// Each step joins two packets of half-summed lanes into one: the lanes that stay, blended, plus the others,
// shuffled to where they belong. The first step joins packets i and i + 4, so that the last leaves sum i in
// lane i.
FIA_INLINE Packet LaneSums(const Packet* packets_of_sums) {
  Packet four[4], two[2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Packet a = packets_of_sums[i], b = packets_of_sums[i + 4];
    four[i] = _mm256_add_ps(_mm256_blend_ps(a, b, 0xf0), _mm256_permute2f128_ps(a, b, 0x21));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const Packet a = four[i], b = four[i + 2];
    two[i] = _mm256_add_ps(_mm256_blend_ps(a, b, 0xcc), _mm256_shuffle_ps(a, b, 0x4e));
  }
  const Packet others = _mm256_blend_ps(two[0], two[1], 0x55);
  return _mm256_add_ps(_mm256_blend_ps(two[0], two[1], 0xaa), _mm256_permute_ps(others, 0xb1));
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_AVX2_H_
