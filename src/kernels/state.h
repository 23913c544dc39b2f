// Finished and partial states of rows: joining two, and rounding one to the output type.
#ifndef FIA_KERNELS_STATE_H_
#define FIA_KERNELS_STATE_H_

#include "core/kernel_table.h"

namespace fia::FIA_ISA_NAMESPACE {

void MergeStates(const SoftmaxState& into, const SoftmaxState& from, std::int64_t rows,
                 std::int64_t value_dim);
void StoreRows(const StoreArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_STATE_H_
