#include "kernels/product.h"

#include <utility>

#include "kernels/simd.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

using PanelFunction = void (*)(const float* a, std::int64_t a_stride, const float* panel, std::int64_t terms,
                               bool add, float* c, std::int64_t c_stride);

// One float32 of each factor.
struct SingleTerm {
  static FIA_INLINE Packet Add(Packet left, Packet right, Packet sum) {
    return MultiplyAdd(left, right, sum);
  }
};

#if defined(FIA_BFLOAT16_DOT)
// Two bfloat16 of each factor.
struct PairTerm {
  static FIA_INLINE Packet Add(Packet left, Packet right, Packet sum) { return DotPairs(left, right, sum); }
};
#endif

// Each element of c is a chain of its own, in the same order whatever kRows and kColumns are.
template <class Term, int kRows, int kColumns>
void Multiply(const float* a, std::int64_t a_stride, const float* panel, std::int64_t terms, bool add,
              float* c, std::int64_t c_stride) {
  Packet sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int column = 0; column < kColumns; ++column) sums[row][column] = Zero();
  }
  for (std::int64_t term = 0; term < terms; ++term) {
    Packet right[kColumns];
#pragma GCC unroll 2
    for (int column = 0; column < kColumns; ++column)
      right[column] = Load(panel + term * kPanel + column * kWidth);
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Packet left = Broadcast(a[row * a_stride + term]);
#pragma GCC unroll 2
      for (int column = 0; column < kColumns; ++column) {
        sums[row][column] = Term::Add(left, right[column], sums[row][column]);
      }
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int column = 0; column < kColumns; ++column) {
      float* to = c + row * c_stride + column * kWidth;
      Store(to, add ? packets::padd(Load(to), sums[row][column]) : sums[row][column]);
    }
  }
}

struct PanelTable {
  PanelFunction function[kBlockRows][2];
};

template <class Term, int... kRow>
constexpr PanelTable MakeTable(std::integer_sequence<int, kRow...>) {
  return {{{&Multiply<Term, kRow + 1, 1>, &Multiply<Term, kRow + 1, 2>}...}};
}

template <class Term>
constexpr PanelTable kTable = MakeTable<Term>(std::make_integer_sequence<int, kBlockRows>());

}  // namespace

void MultiplyPanel(int rows, int packet_columns, const float* a, std::int64_t a_stride, const float* panel,
                   std::int64_t terms, bool add, float* c, std::int64_t c_stride) {
  kTable<SingleTerm>.function[rows - 1][packet_columns - 1](a, a_stride, panel, terms, add, c, c_stride);
}

#if defined(FIA_BFLOAT16_DOT)
void MultiplyPairPanel(int rows, int packet_columns, const float* a, std::int64_t a_stride,
                       const float* panel, std::int64_t terms, bool add, float* c, std::int64_t c_stride) {
  kTable<PairTerm>.function[rows - 1][packet_columns - 1](a, a_stride, panel, terms, add, c, c_stride);
}
#endif

}  // namespace fia::FIA_ISA_NAMESPACE
