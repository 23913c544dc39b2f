#include "exec/item.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/sizes.h"
#include "exec/finish.h"
#include "exec/item_run.h"
#include "exec/keys.h"
#include "exec/pairs.h"
#include "exec/queries.h"
#include "exec/scales.h"
#include "exec/softmax_state.h"

namespace fia {
namespace {

SoftmaxState PartialState(const ItemRun& run, std::int64_t split) noexcept {
  const std::int64_t offset =
      run.plan().workspace.partials + run.item.partial + split * run.item.work->partial_stride;
  return StateAt(run.tiling().state, run.context->workspace + offset);
}

// State number `level` of the worker's merge stack; the lowest of a split item is its partial state.
SoftmaxState StackState(const ItemRun& run, std::int64_t level) noexcept {
  if (level == 0 && run.item.work->splits > 1) return PartialState(run, run.item.split);
  const StateLayout& layout = run.tiling().state;
  return StateAt(layout, run.memory + run.layout().states + level * layout.bytes);
}

// What all tiles of an item have in common.
TileArgs ItemArgs(const ItemRun& run) noexcept {
  const Problem& problem = run.problem();
  TileArgs args;
  args.shape = run.tiling().shape;
  args.rows = run.item.rows;
  args.packed_query = run.Array<void>(run.layout().query);
  args.rope_type = problem.query_rope.dtype;
  args.scale = ScoreScale(run);
  if (problem.key_offset.present()) args.row_offset = run.Array<float>(run.layout().row_offset);
  if (problem.query_scale.present()) args.row_scale = run.Array<float>(run.layout().row_scale);
  if (problem.flow == Flow::kInt8Mla) args.weights = Weights::kBlockInt8;
  args.weight_scale = run.context->weight_scale;
  args.scratch = run.Array<void>(run.layout().scratch);
  if (run.ready.item == run.index) args.next_key_rows = run.ready.key_rows;
  return args;
}

// Item number `index` for the worker that `memory` belongs to.
ItemRun RunOf(const RunContext& context, std::byte* memory, std::int64_t index) noexcept {
  ItemRun run;
  run.context = &context;
  run.memory = memory;
  run.index = index;
  run.item = ItemAt(*context.plan, index);
  run.sequence = &context.plan->problem.sequences[static_cast<std::size_t>(run.item.work->sequence)];
  run.starts = StartsOf(context, *run.sequence);
  return run;
}

// Points args' next keys at those of the tile at `first`, or, behind the item's keys, at the first ones of
// the item that this worker is likely to take next.
void LookAhead(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept {
  const std::int64_t step = args->shape.keys;
  const std::int64_t end = AttendedKeys(run.plan(), run.item, run.item.split).end;
  args->next_keys = 0;
  args->next_key_rows = nullptr;
  if (first < end) return PointAhead(run, first, std::min(step, end - first), args);
  const std::int64_t index = run.index + run.plan().workers;
  if (index >= run.plan().item_count) return;
  const ItemRun next = RunOf(*run.context, run.memory, index);
  if (next.item.work->body != Body::kFewRows || !next.starts.valid()) return;
  const KeyRange keys = AttendedKeys(next.plan(), next.item, next.item.split);
  const std::int64_t begin = keys.begin / step * step;
  if (keys.empty()) return;
  PointAhead(next, begin, std::min(step, keys.end - begin), args);
  *run.next_ready = {index, args->next_key_rows};
}

// Tiles begin at multiples of the tile's keys and end where the last row's keys do.
void RunTiles(const ItemRun& run, const KeyRange& keys, TileArgs* args) noexcept {
  const std::int64_t step = args->shape.keys;
  const auto tile =
      run.plan().kernels->tile[static_cast<int>(run.item.work->body)][static_cast<int>(run.plan().kv_type)];
  for (std::int64_t first = keys.begin / step * step; first < keys.end; first += step) {
    args->keys = std::min(step, keys.end - first);
    PointAtKeys(run, first, args);
    if (run.item.work->body == Body::kFewRows) LookAhead(run, first + step, args);
    PointAtPairs(run, first, args);
    ReadTokenScales(run, first, args);
    tile(*args);
  }
}

// One state for each chunk that has keys, joined by the tree over the chunks. `final_max`: row maxima that
// are known beforehand, else null.
SoftmaxState RunChunks(const ItemRun& run, const KeyRange& keys, const float* final_max,
                       TileArgs* args) noexcept {
  const std::int64_t step = run.tiling().chunk_keys;
  MergeTree tree(*run.plan().kernels, run.item.rows, run.problem().value_dim);
  for (std::int64_t chunk = keys.begin / step; chunk * step < keys.end; ++chunk) {
    tree.CloseBefore(chunk);
    args->state = StackState(run, tree.depth());
    ClearState(args->state, run.item.rows);
    if (final_max != nullptr) std::copy_n(final_max, run.item.rows, args->state.row_max);
    const KeyRange chunk_keys = {std::max(keys.begin, chunk * step), std::min(keys.end, (chunk + 1) * step)};
    RunTiles(run, chunk_keys, args);
    tree.Push(chunk, args->state);
  }
  return *tree.Root();
}

// The weights of the int8 flow are rounded against each row's final maximum: a first pass finds it.
const float* FindFinalMax(const ItemRun& run, const KeyRange& keys, TileArgs* args) noexcept {
  args->weights = Weights::kMaxOnly;
  args->state = StackState(run, 0);
  ClearState(args->state, run.item.rows);
  RunTiles(run, keys, args);
  args->weights = Weights::kFixedMaxInt8;
  auto* final_max = run.Array<float>(run.layout().final_max);
  std::copy_n(args->state.row_max, run.item.rows, final_max);
  return final_max;
}

// The state of the item's rows over `keys`.
SoftmaxState ComputeState(const ItemRun& run, const KeyRange& keys) noexcept {
  LoadQueries(run);
  TileArgs args = ItemArgs(run);
  const float* final_max = nullptr;
  if (run.problem().flow == Flow::kInt8) final_max = FindFinalMax(run, keys, &args);
  return RunChunks(run, keys, final_max, &args);
}

// Whether this was the last split of the item's rows to finish.
bool ArriveLast(const ItemRun& run) noexcept {
  auto* arrivals = run.context->Shared<std::int32_t>(run.plan().workspace.arrivals);
  std::atomic_ref<std::int32_t> arrived(arrivals[run.item.merge]);
  return arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == run.item.work->splits;
}

// Finishes rows whose keys were split: their partial states joined by the tree over the subtrees.
void FinishSplits(const ItemRun& run) noexcept {
  MergeTree tree(*run.plan().kernels, run.item.rows, run.problem().value_dim);
  for (std::int64_t split = 0; split < run.item.work->splits; ++split) {
    if (AttendedKeys(run.plan(), run.item, split).empty()) continue;
    const std::int64_t subtree = run.item.work->first_split + split;
    tree.CloseBefore(subtree);
    tree.Push(subtree, PartialState(run, split));
  }
  FinishRows(run, tree.Root());
}

}  // namespace

void RunItem(const RunContext& context, std::byte* memory, RowsAhead* ahead, std::int64_t index) noexcept {
  ItemRun run = RunOf(context, memory, index);
  run.ready = std::exchange(*ahead, {});
  run.next_ready = ahead;
  // A fill item writes such a sequence's rows.
  if (!run.starts.valid()) return;
  const KeyRange keys = AttendedKeys(*context.plan, run.item, run.item.split);
  const bool split = run.item.work->splits > 1;
  if (keys.empty()) {
    if (!split) FinishRows(run, nullptr);
  } else {
    const SoftmaxState state = ComputeState(run, keys);
    if (!split) FinishRows(run, &state);
  }
  if (split && ArriveLast(run)) FinishSplits(run);
}

}  // namespace fia
