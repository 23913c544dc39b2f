// Loads, converts and stores that Eigen's packets do not offer, from the file of the instruction set that is
// compiled for. Each file defines, for kWidth elements at any address:
//   LoadFloat16, LoadBfloat16, LoadInt8, LoadInt4   stored elements -> float32, exact
//   StoreFloat16, StoreBfloat16                     float32 -> stored, nearest even, NaN stays NaN
//   LaneSums                                        the sums of kWidth packets' lanes, in order; the
//   additions
//                                                   are the same for each of them, whatever its place
// Sets with a dot product of bfloat16 define FIA_BFLOAT16_DOT and, for packets whose lanes hold two elements:
//   DotPairs                                        sum + both products of each lane, in float32
//   StoreNarrow                                     float32 -> bfloat16, nearest even
#ifndef FIA_KERNELS_SIMD_H_
#define FIA_KERNELS_SIMD_H_

#include "kernels/packet.h"

#if defined(__AVX512BF16__)
#include "kernels/simd_avx512bf16.h"
#elif defined(__AVX512F__)
#include "kernels/simd_avx512.h"
#elif defined(__AVX2__)
#include "kernels/simd_avx2.h"
#elif defined(__aarch64__)
#include "kernels/simd_neon.h"
#else
#include "kernels/simd_baseline.h"
#endif

namespace fia::FIA_ISA_NAMESPACE {

// Into the second-level cache: the few buffers between the first level and the rest stay free for loads.
FIA_INLINE void Prefetch(const void* address) { __builtin_prefetch(address, 0, 2); }
// What is read once and then never again: past the larger caches, which need not evict anything for it.
FIA_INLINE void PrefetchOnce(const void* address) { __builtin_prefetch(address, 0, 0); }

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_H_
