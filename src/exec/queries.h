// The query rows of an item.
#ifndef FIA_EXEC_QUERIES_H_
#define FIA_EXEC_QUERIES_H_

#include "exec/item_run.h"

namespace fia {

// Packs the item's queries, and with them the row offsets and row scales, into the worker's memory.
void LoadQueries(const ItemRun& run) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_QUERIES_H_
