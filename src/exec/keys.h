// The stored rows of a tile's keys: contiguous, paged, prefix and list storage become pointers.
#ifndef FIA_EXEC_KEYS_H_
#define FIA_EXEC_KEYS_H_

#include <algorithm>
#include <cstdint>

#include "exec/item_run.h"
#include "exec/scalar.h"

namespace fia {

// Positions first .. first + count - 1 of a sequence that lie one after another: in rows row .. of block
// `block` (0 when not paged).
struct KeyRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t block = 0;
  std::int64_t row = 0;
};

// The id of a used entry. Ids were checked before the run; a table that shares memory with an output, or that
// somebody writes meanwhile, may hold any by now: block 0 then stands for it, whose values mean nothing.
inline std::int64_t ReadBlockId(const std::byte* entry, std::int64_t block_count) noexcept {
  const std::int64_t id = ReadAs<std::int32_t>(entry);
  return id >= 0 && id < block_count ? id : 0;
}

// Calls visit(key_run) for positions [begin, end) of a segment, in order. Paged caches have no left padding.
template <class Visit>
void VisitRuns(const ItemRun& run, const KvSegment& segment, std::int64_t begin, std::int64_t end,
               Visit visit) {
  const Problem& problem = run.problem();
  if (!problem.storage[static_cast<std::size_t>(segment.tensors)].paged) {
    visit(KeyRun{begin, end - begin, 0, begin - segment.begin + run.starts.key});
    return;
  }
  const std::byte* table =
      run.context->Input(problem.block_table_slot, run.item.work->sequence * problem.table_row_stride);
  while (begin < end) {
    const std::int64_t position = begin - segment.begin;
    const std::int64_t entry = position / problem.block_size;
    const std::int64_t row = position - entry * problem.block_size;
    const std::int64_t count = std::min(end - begin, problem.block_size - row);
    const std::int64_t id = ReadBlockId(table + entry * problem.table_block_stride, problem.block_count);
    visit(KeyRun{begin, count, id, row});
    begin += count;
  }
}

// Points args' key, value and rope rows at positions first .. first + args.keys - 1. Rows whose elements are
// not adjacent are copied into the worker's memory. Takes over the keys that PointAhead has pointed at.
void PointAtKeys(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept;

// Points args' next key rows at positions first .. first + count - 1 of `run`'s item, which need not be the
// item of args' tile; at none where their elements are not adjacent.
void PointAhead(const ItemRun& run, std::int64_t first, std::int64_t count, TileArgs* args) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_KEYS_H_
