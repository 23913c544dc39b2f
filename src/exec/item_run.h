// One work item while a worker runs it, and what the worker knows of the next one.
#ifndef FIA_EXEC_ITEM_RUN_H_
#define FIA_EXEC_ITEM_RUN_H_

#include <cstddef>
#include <cstdint>

#include "core/items.h"
#include "exec/context.h"

namespace fia {

// The key rows that a worker has pointed at for the first tile of an item, before it takes that item.
struct RowsAhead {
  std::int64_t item = -1;  // -1: none
  const void* const* key_rows = nullptr;
};

struct ItemRun {
  const RunContext* context = nullptr;
  std::byte* memory = nullptr;  // the worker's part of the workspace
  const Sequence* sequence = nullptr;
  Starts starts;
  Item item;
  std::int64_t index = 0;           // the item's
  RowsAhead ready;                  // of the item's own first tile, if any
  RowsAhead* next_ready = nullptr;  // the worker's, for a later item

  const Plan& plan() const noexcept { return *context->plan; }
  const Problem& problem() const noexcept { return context->plan->problem; }
  const WorkerLayout& layout() const noexcept { return context->plan->workspace.worker; }
  const Tiling& tiling() const noexcept { return context->plan->tilings[static_cast<int>(item.work->body)]; }
  // An array of the worker.
  template <class T>
  T* Array(std::int64_t offset) const noexcept {
    return reinterpret_cast<T*>(memory + offset);
  }
};

// Calls visit(r, i, n) for each row r of the item with its query position i and head n.
template <class Visit>
void VisitRows(const ItemRun& run, Visit visit) {
  const std::int64_t group = run.problem().group;
  const std::int64_t first_head = run.item.kv_head * group;
  std::int64_t query = run.item.first_query;
  std::int64_t member = run.item.first_row % group;
  for (std::int64_t row = 0; row < run.item.rows; ++row) {
    visit(row, query, first_head + member);
    if (++member == group) {
      member = 0;
      ++query;
    }
  }
}

}  // namespace fia

#endif  // FIA_EXEC_ITEM_RUN_H_
