// A planned call: the normal form, the kernels, the tiles, the work items and where everything lies in the
// workspace.
#ifndef FIA_CORE_PLAN_H_
#define FIA_CORE_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/kernel_table.h"
#include "core/problem.h"
#include "fia/runtime.h"

namespace fia {

// Tile sizes of one body; constants of (dtypes, D, Dv, body), never of lengths, but for rows.
struct Tiling {
  TileShape shape;               // rows and keys of the largest tile
  std::int64_t chunk_keys = 0;   // keys of one leaf of the merge tree, a multiple of shape.keys
  std::int64_t query_bytes = 0;  // per worker
  std::int64_t scratch_bytes = 0;
};

// Work of one sequence: a grid of kv heads x row tiles x splits, numbered from first_item on in that order
// (split fastest).
struct SequenceWork {
  std::int32_t sequence = 0;
  Body body = Body::kFewRows;
  std::int64_t first_item = 0;
  std::int64_t row_tiles = 0;  // tiles of S1 * G rows
  std::int64_t row_tile = 0;   // rows of a tile (the last may be shorter)
  std::int64_t splits = 1;     // aligned subtrees the keys are cut into; 1: the item finishes its rows itself
  std::int64_t split_chunks = 0;   // chunks of one subtree, a power of two
  std::int64_t first_partial = 0;  // splits > 1: index of the first partial state; item order
  std::int64_t first_merge = 0;    // splits > 1: index of the first merge item
};

// Byte offsets into the workspace, after its start is rounded up to 64. One function counts and places them.
struct WorkspaceLayout {
  std::int64_t total = 0;          // bytes to ask for, alignment slack included
  std::int64_t partials = 0;       // partial states of split rows
  std::int64_t partial_bytes = 0;  // of one partial state
  std::int64_t workers = 0;        // per-worker scratch
  std::int64_t worker_bytes = 0;
};

struct Plan {
  Problem problem;
  const KernelTable* kernels = nullptr;
  Tiling tilings[kBodyCount];
  std::vector<SequenceWork> works;  // most expensive items first
  std::int64_t item_count = 0;
  std::int64_t merge_count = 0;  // row tiles whose keys were split
  std::int64_t partial_count = 0;
  std::int64_t fill_count = 0;  // items that fill rows outside the valid ones
  int workers = 1;
  ParallelFor parallel_for;  // run == nullptr: the library's pool
  WorkspaceLayout workspace;
};

}  // namespace fia

#endif  // FIA_CORE_PLAN_H_
