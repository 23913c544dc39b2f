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

// Byte offsets of the arrays of one SoftmaxState.
struct StateLayout {
  std::int64_t row_max = 0;
  std::int64_t row_sum = 0;
  std::int64_t offset_sum = -1;  // -1: no per-token value offsets
  std::int64_t acc = 0;
  std::int64_t acc_stride = 0;  // floats
  std::int64_t bytes = 0;       // a multiple of 64
};

// Tile sizes of one body; constants of (dtypes, D, Dv, body), never of lengths, but for rows.
struct Tiling {
  TileShape shape;              // rows and keys of the largest tile
  std::int64_t chunk_keys = 0;  // keys of one leaf of the merge tree, a multiple of shape.keys
  std::int64_t depth = 0;       // states that an item's merge stack may hold
  StateLayout state;            // of shape.rows rows
};

// Work of one sequence: a grid of splits x kv heads x row tiles, numbered from first_item on in that order
// (row tiles fastest, from the last to the first: under a causal band the last costs most). The heads of one
// split follow one another, because caches often hold them side by side.
struct SequenceWork {
  std::int32_t sequence = 0;
  Body body = Body::kFewRows;
  std::int64_t first_item = 0;
  std::int64_t row_tiles = 0;  // tiles of S1 * G rows
  std::int64_t row_tile = 0;   // rows of a tile (the last may be shorter)
  std::int64_t splits = 1;     // aligned subtrees the keys are cut into; 1: the item finishes its rows itself
  std::int64_t first_split = 0;     // splits > 1: the first subtree that any row attends
  std::int64_t split_chunks = 0;    // splits > 1: chunks of one subtree, a power of two
  std::int64_t first_partial = 0;   // splits > 1: byte offset of the first partial state; item order
  std::int64_t partial_stride = 0;  // splits > 1: bytes between partial states
  std::int64_t first_merge = 0;     // splits > 1: index of the first arrival counter
};

// Byte offsets of what one worker needs, from the start of its part of the workspace.
struct WorkerLayout {
  std::int64_t query = 0;         // packed queries
  std::int64_t scratch = 0;       // the kernels' own
  std::int64_t states = 0;        // the merge stack
  std::int64_t final_max = 0;     // [rows] float: row maxima of the int8 flow's first pass
  std::int64_t query_rows = 0;    // [rows] pointers, also of the output
  std::int64_t rope_rows = 0;     // [rows] pointers, with rope
  std::int64_t mask_rows = 0;     // [rows] pointers, with a mask
  std::int64_t bias_rows = 0;     // [rows] pointers, with a bias
  std::int64_t quant_scales = 0;  // [rows] pointers, with int8 output
  std::int64_t quant_offsets = 0;
  std::int64_t row_offset = 0;    // [rows] float, with key offsets
  std::int64_t row_scale = 0;     // [rows] float, int8 MLA
  std::int64_t attend_begin = 0;  // [rows] int32
  std::int64_t attend_end = 0;
  std::int64_t factor = 0;        // [rows] double
  std::int64_t addend = 0;        // [rows] float, with per-token value offsets
  std::int64_t key_rows[2] = {};  // [keys] pointers each: a tile's, and those of the tile after it
  std::int64_t value_rows = 0;    // [keys] pointers
  std::int64_t krope_rows = 0;    // [keys] pointers, with rope
  std::int64_t key_scale = 0;     // [keys] float each, where there are such per-token scales
  std::int64_t key_offset = 0;
  std::int64_t value_scale = 0;
  std::int64_t value_offset = 0;
  std::int64_t gathered_keys = 0;  // [keys] rows that are not adjacent in memory, copied
  std::int64_t gathered_values = 0;
  std::int64_t gathered_ropes = 0;
  std::int64_t gathered_key_bytes = 0;  // of one row
  std::int64_t gathered_value_bytes = 0;
  std::int64_t gathered_rope_bytes = 0;
};

// Byte offsets into the workspace, after its start is rounded up to 64. One function counts and places them.
struct WorkspaceLayout {
  std::int64_t total = 0;           // bytes to ask for, alignment slack included
  std::int64_t arrivals = 0;        // [merge_count] int32: splits that have finished
  std::int64_t partials = 0;        // partial states of split rows
  std::int64_t key_scales = 0;      // [Nk, D] float: antiquant factors and offsets per channel
  std::int64_t key_offsets = 0;     // [Nk, D]
  std::int64_t value_scales = 0;    // [Nk, Dv]
  std::int64_t value_offsets = 0;   // [Nk, Dv]
  std::int64_t output_scales = 0;   // [N, Dv], or [Dv] when they are the same for all heads
  std::int64_t output_offsets = 0;  // likewise
  std::int64_t workers = 0;         // per-worker parts
  std::int64_t worker_bytes = 0;
  WorkerLayout worker;
};

struct Plan {
  Problem problem;
  const KernelTable* kernels = nullptr;
  KvType kv_type = KvType::kFloat16;
  Tiling tilings[kBodyCount];
  std::vector<SequenceWork> works;  // most expensive items first
  std::int64_t item_count = 0;      // items that compute
  std::int64_t merge_count = 0;     // row tiles whose keys were split
  std::int64_t partial_bytes = 0;   // of all partial states
  // Sequences whose output may have rows outside the valid ones; the fill items are these x kv heads, or for
  // fill_only the runs of rows of attention_out, then of softmax_lse.
  std::vector<std::int32_t> fills;
  std::int64_t fill_count = 0;
  int workers = 1;
  ParallelFor parallel_for;  // run == nullptr: the library's pool
  WorkspaceLayout workspace;
};

}  // namespace fia

#endif  // FIA_CORE_PLAN_H_
