// The end of a row: sink, division by the sum, output and lse.
#ifndef FIA_EXEC_FINISH_H_
#define FIA_EXEC_FINISH_H_

#include <cstddef>
#include <cstdint>

#include "core/kernel_table.h"
#include "exec/context.h"
#include "exec/item_run.h"

namespace fia {

// Writes output and lse of the item's rows from the state of all their keys; null: they attend none.
void FinishRows(const ItemRun& run, const SoftmaxState* state) noexcept;

// Writes zeros to a row of the output.
void ClearOutputRow(const RowTensor& out, std::int64_t value_dim, std::byte* row) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_FINISH_H_
