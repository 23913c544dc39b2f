// AVX-512 with BF16: the dot product of bfloat16, 16 pairs at a time.
#ifndef FIA_KERNELS_SIMD_AVX512BF16_H_
#define FIA_KERNELS_SIMD_AVX512BF16_H_

#include "kernels/simd_avx512.h"

#define FIA_BFLOAT16_DOT 1

namespace fia::FIA_ISA_NAMESPACE {

// Two fused multiply-adds a lane, the second element's first. Subnormal elements and results count as 0.
FIA_INLINE Packet DotPairs(Packet left, Packet right, Packet sum) {
  return _mm512_dpbf16_ps(sum, (__m512bh)left, (__m512bh)right);
}

// Results below the normal range become 0.
FIA_INLINE void StoreNarrow(void* to, Packet value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(value));
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_AVX512BF16_H_
