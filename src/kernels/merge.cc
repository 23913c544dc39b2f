#include <limits>

#include "kernels/exp.h"
#include "kernels/state.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

void CopyRow(const SoftmaxState& into, const SoftmaxState& from, std::int64_t row, std::int64_t value_dim) {
  into.row_max[row] = from.row_max[row];
  into.row_sum[row] = from.row_sum[row];
  if (into.offset_sum != nullptr && from.offset_sum != nullptr) into.offset_sum[row] = from.offset_sum[row];
  for (std::int64_t dim = 0; dim < value_dim; ++dim) {
    into.acc[row * into.acc_stride + dim] = from.acc[row * from.acc_stride + dim];
  }
}

}  // namespace

void MergeStates(const SoftmaxState& into, const SoftmaxState& from, std::int64_t rows,
                 std::int64_t value_dim) {
  constexpr float kEmpty = -std::numeric_limits<float>::infinity();
  for (std::int64_t row = 0; row < rows; ++row) {
    const float into_max = into.row_max[row];
    const float from_max = from.row_max[row];
    if (from_max == kEmpty) continue;
    if (into_max == kEmpty) {
      CopyRow(into, from, row, value_dim);
      continue;
    }
    const float both_max = from_max > into_max ? from_max : into_max;
    const float into_factor = Exp(into_max - both_max);
    const float from_factor = Exp(from_max - both_max);
    into.row_max[row] = both_max;
    into.row_sum[row] = into.row_sum[row] * into_factor + from.row_sum[row] * from_factor;
    if (into.offset_sum != nullptr && from.offset_sum != nullptr) {
      into.offset_sum[row] = into.offset_sum[row] * into_factor + from.offset_sum[row] * from_factor;
    }
    float* acc = into.acc + row * into.acc_stride;
    const float* other = from.acc + row * from.acc_stride;
    for (std::int64_t dim = 0; dim < value_dim; ++dim)
      acc[dim] = acc[dim] * into_factor + other[dim] * from_factor;
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE
