// The register-blocked product of the many-rows body: a few rows against one packed panel.
#ifndef FIA_KERNELS_PRODUCT_H_
#define FIA_KERNELS_PRODUCT_H_

#include <cstdint>

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

// Columns of a panel: two packets. Rows of a block: as many as leave registers for the panel's row and for
// one broadcast element (32 registers with AVX-512 and NEON, 16 else).
constexpr std::int64_t kPanel = 2 * kWidth;
#if defined(__AVX512F__)
constexpr int kBlockRows = 14;
#elif defined(__aarch64__)
constexpr int kBlockRows = 12;
#elif defined(__AVX2__)
constexpr int kBlockRows = 6;
#else
constexpr int kBlockRows = 5;
#endif

// Terms that one float32 chain may have: in q . k and in p . v.
constexpr std::int64_t kScoreChain = 128;
constexpr std::int64_t kValueChain = 256;

// c[r][n] = sum over t < terms of a[r][t] * panel[t][n], one float32 chain from t = 0 on; with `add`, plus
// what c holds. a is [rows, a_stride], panel [terms, kPanel], c [rows, c_stride]. 1 <= rows <= kBlockRows;
// columns n are `packet_columns` (1 or 2) packets.
void MultiplyPanel(int rows, int packet_columns, const float* a, std::int64_t a_stride, const float* panel,
                   std::int64_t terms, bool add, float* c, std::int64_t c_stride);

// The same where each float of a and of the panel is the place of a pair of bfloat16: `terms` is then the
// number of pairs. Only in sets with FIA_BFLOAT16_DOT.
void MultiplyPairPanel(int rows, int packet_columns, const float* a, std::int64_t a_stride,
                       const float* panel, std::int64_t terms, bool add, float* c, std::int64_t c_stride);

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_PRODUCT_H_
