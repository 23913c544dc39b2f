// Runs a work item: its rows against its keys.
#ifndef FIA_EXEC_ITEM_H_
#define FIA_EXEC_ITEM_H_

#include <cstddef>
#include <cstdint>

#include "exec/item_run.h"

namespace fia {

// Computes item `index` with the worker's memory, and the output of its rows if it is the last of them to
// finish. `ahead` is the worker's from one item to the next.
void RunItem(const RunContext& context, std::byte* memory, RowsAhead* ahead, std::int64_t index) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_ITEM_H_
