#include "plan/works.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/items.h"
#include "core/sizes.h"
#include "plan/cost.h"
#include "plan/tiling.h"

namespace fia {
namespace {

// No item should cost more than this part of a worker's share: then the last item to finish keeps the others
// waiting for less than an eighth of the time on two workers, a quarter on many.
constexpr double kItemsPerWorker = 4;

// Row tiles are halved down to this for balance; smaller ones load keys for too few rows.
constexpr std::int64_t kLeastBalancedRows = 64;

// Chunks of keys after which a head passes its turn to the next one: so few that what the heads share stays
// in the caches for a round, so many that starting and joining parts costs nothing.
constexpr double kTurnChunks = 4;

// What the partial states of split keys may take, for each worker.
constexpr std::int64_t kPartialBytesPerWorker = 3 << 20;

struct Budget {
  double item_cost = std::numeric_limits<double>::infinity();
  std::int64_t partial_bytes = 0;
  int workers = 1;
};

// A sequence's work before it is numbered.
struct Draft {
  double cost = 0;  // of the most expensive item
  SequenceWork work;
};

double CostOf(const Problem& problem, const Sequence& sequence, std::int64_t row_tile) noexcept {
  const double positions = static_cast<double>(sequence.query_count);
  const double rows = positions * static_cast<double>(problem.group);
  const double tiles = static_cast<double>(CeilDiv(sequence.query_count * problem.group, row_tile));
  const double keys = AttendedPairs(sequence) / positions;
  return static_cast<double>(problem.num_kv_heads) * keys * (rows + kKeyCost * tiles);
}

// Rows of a tile before balance. A band cuts tiles at an angle: the corner that is computed in vain grows
// with the rows of a tile, the cost of loading keys shrinks with them.
std::int64_t RowTileOf(const Problem& problem, const Sequence& sequence, const Tiling& tiling) noexcept {
  const std::int64_t rows = sequence.query_count * problem.group;
  std::int64_t row_tile = tiling.shape.rows;
  const double pairs = AttendedPairs(sequence);
  const double positions = static_cast<double>(sequence.query_count);
  if (pairs < 0.9 * positions * static_cast<double>(sequence.key_count)) {
    const double limit = 4 * kKeyCost * static_cast<double>(problem.group) * pairs / positions;
    while (row_tile > kLeastBalancedRows && static_cast<double>(row_tile * row_tile) > limit) row_tile /= 2;
  }
  return std::min(row_tile, rows);
}

// Whether the cache holds the same keys of several heads close together: token by token, or block by block.
bool HeadsLieTogether(const Problem& problem, const Sequence& sequence) noexcept {
  if (problem.num_kv_heads == 1) return false;
  const KvTensors& tensors = problem.storage[static_cast<std::size_t>(sequence.segments[0].tensors)];
  return tensors.paged || std::abs(tensors.key.head_stride) < std::abs(tensors.key.row_stride);
}

// How many parts the keys should have. Few rows cost what reading the keys costs. One head after the other
// through all keys would come back to each page of memory for every head, long after it has left the caches:
// up to three times slower. Cut every kTurnChunks, the heads take turns.
double PiecesOf(const Problem& problem, const Sequence& sequence, const Budget& budget, const Draft& draft,
                double chunks) noexcept {
  const double pieces = std::ceil(draft.cost / budget.item_cost);
  const bool turns = draft.work.body == Body::kFewRows && HeadsLieTogether(problem, sequence);
  return turns ? std::max(pieces, chunks / kTurnChunks) : pieces;
}

// Cuts the keys into aligned subtrees, as many as there should be where partial states have room for them.
void SplitKeys(const Problem& problem, const Sequence& sequence, const Tiling& tiling, Budget* budget,
               Draft* draft) noexcept {
  SequenceWork& work = draft->work;
  const KeyRange keys = AttendedKeys(sequence, 0, sequence.query_count - 1);
  const auto chunks =
      static_cast<double>(CeilDiv(keys.end, tiling.chunk_keys) - keys.begin / tiling.chunk_keys);
  const double pieces = std::min(chunks, PiecesOf(problem, sequence, *budget, *draft, chunks));
  if (pieces <= 1) return;
  // A band that moves along the keys would leave most subtrees of a row tile empty.
  const KeyRange tile_keys = AttendedKeys(sequence, 0, (work.row_tile - 1) / problem.group);
  if (keys.end - keys.begin > 2 * (tile_keys.end - tile_keys.begin) + tiling.chunk_keys &&
      sequence.band_low > -sequence.query_count) {
    return;
  }
  const std::int64_t partial = work.row_tile * RoundUp(problem.value_dim, 16) * 4;
  auto split_chunks = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(chunks / pieces)))));
  for (;; split_chunks *= 2) {
    const std::int64_t split_keys = split_chunks * tiling.chunk_keys;
    const std::int64_t first_split = keys.begin / split_keys;
    const std::int64_t splits = CeilDiv(keys.end, split_keys) - first_split;
    if (splits <= 1) return;
    const double bytes = static_cast<double>(problem.num_kv_heads * work.row_tiles) *
                         static_cast<double>(splits) * static_cast<double>(partial);
    if (bytes > static_cast<double>(budget->partial_bytes)) continue;
    budget->partial_bytes -= static_cast<std::int64_t>(bytes);
    work.splits = splits;
    work.first_split = first_split;
    work.split_chunks = split_chunks;
    draft->cost /= static_cast<double>(splits);
    return;
  }
}

// The int8 flow rounds its weights against the maximum over all keys of a row: they stay together.
bool MaySplitKeys(const Problem& problem) noexcept { return problem.flow != Flow::kInt8; }

// Whether the work's items, cut as finely as keys allow, keep all workers busy in whole rounds.
bool FillsRounds(const Problem& problem, const Sequence& sequence, const Tiling& tiling,
                 std::int64_t row_tile, int workers) noexcept {
  const std::int64_t tiles = CeilDiv(sequence.query_count * problem.group, row_tile);
  const std::int64_t chunks = (sequence.key_count + tiling.chunk_keys / 2) / tiling.chunk_keys;
  const std::int64_t pieces = MaySplitKeys(problem) ? std::max<std::int64_t>(1, chunks) : 1;
  return problem.num_kv_heads * tiles * pieces % workers == 0;
}

// Halves the row tile while items are too large and cutting their keys would not make them small enough. It
// costs time to load keys for fewer rows, so not when the larger items come out even.
void BalanceRows(const Problem& problem, const Sequence& sequence, const Tiling& tiling, const Budget& budget,
                 Draft* draft) noexcept {
  SequenceWork& work = draft->work;
  const double chunks = static_cast<double>(CeilDiv(sequence.key_count, tiling.chunk_keys));
  while (draft->cost > budget.item_cost && work.row_tile >= 2 * kLeastBalancedRows &&
         (!MaySplitKeys(problem) || chunks < 2 * draft->cost / budget.item_cost) &&
         !FillsRounds(problem, sequence, tiling, work.row_tile, budget.workers)) {
    work.row_tile /= 2;
    draft->cost = LargestTileCost(sequence, problem.group, work.row_tile);
  }
}

Draft DraftWork(const Plan& plan, std::size_t index, Budget* budget) noexcept {
  constexpr std::int64_t kRowStep = 16;
  const Problem& problem = plan.problem;
  const Sequence& sequence = problem.sequences[index];
  Draft draft;
  SequenceWork& work = draft.work;
  work.sequence = static_cast<std::int32_t>(index);
  work.body = BodyOf(plan, sequence);
  const Tiling& tiling = plan.tilings[static_cast<int>(work.body)];
  const std::int64_t rows = sequence.query_count * problem.group;
  work.row_tile = RowTileOf(problem, sequence, tiling);
  draft.cost = LargestTileCost(sequence, problem.group, work.row_tile);
  BalanceRows(problem, sequence, tiling, *budget, &draft);
  // Tiles of equal size, so that the last is no small remainder.
  work.row_tiles = CeilDiv(rows, work.row_tile);
  work.row_tile = std::min(work.row_tile, RoundUp(CeilDiv(rows, work.row_tiles), kRowStep));
  work.row_tiles = CeilDiv(rows, work.row_tile);
  if (MaySplitKeys(problem)) SplitKeys(problem, sequence, tiling, budget, &draft);
  return draft;
}

Budget BudgetOf(const Plan& plan, int max_workers) noexcept {
  Budget budget;
  budget.partial_bytes = kPartialBytesPerWorker * max_workers;
  if (max_workers == 1) return budget;
  double cost = 0;
  for (const Sequence& sequence : plan.problem.sequences) {
    if (sequence.query_count == 0 || sequence.key_count == 0) continue;
    const Body body = BodyOf(plan, sequence);
    cost += CostOf(plan.problem, sequence, plan.tilings[static_cast<int>(body)].shape.rows);
  }
  budget.item_cost = cost / (kItemsPerWorker * max_workers);
  budget.workers = max_workers;
  return budget;
}

// Shrinks the bodies' tiles to the largest that a work has, and sizes their merge stacks.
void FitTilings(const std::vector<Draft>& drafts, Plan* plan) {
  std::int64_t rows[kBodyCount] = {};
  for (const Draft& draft : drafts) {
    const int body = static_cast<int>(draft.work.body);
    Tiling& tiling = plan->tilings[body];
    rows[body] = std::max(rows[body], draft.work.row_tile);
    const Sequence& sequence = plan->problem.sequences[static_cast<std::size_t>(draft.work.sequence)];
    const std::int64_t chunks =
        draft.work.splits > 1 ? draft.work.split_chunks : CeilDiv(sequence.key_count, tiling.chunk_keys);
    const auto width = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(chunks - 1)));
    tiling.depth = std::max(tiling.depth, width + 1);
  }
  const bool offset_sums = plan->problem.value_offset.per_token;
  for (int body = 0; body < kBodyCount; ++body) {
    Tiling& tiling = plan->tilings[body];
    tiling.shape.rows = rows[body];
    tiling.state = LayOutState(rows[body], plan->problem.value_dim, offset_sums);
  }
}

void NumberWorks(const std::vector<Draft>& drafts, Plan* plan) {
  plan->works.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    SequenceWork& work = plan->works.emplace_back(draft.work);
    const std::int64_t tiles = plan->problem.num_kv_heads * work.row_tiles;
    work.first_item = plan->item_count;
    plan->item_count += tiles * work.splits;
    if (work.splits == 1) continue;
    const StateLayout& state = plan->tilings[static_cast<int>(work.body)].state;
    work.first_merge = plan->merge_count;
    work.first_partial = plan->partial_bytes;
    work.partial_stride = state.acc + work.row_tile * state.acc_stride * std::int64_t{sizeof(float)};
    plan->merge_count += tiles;
    plan->partial_bytes += tiles * work.splits * work.partial_stride;
  }
}

}  // namespace

void CutIntoWorks(int max_workers, Plan* plan) {
  for (const Body body : kBodies) {
    plan->tilings[static_cast<int>(body)] = TilingOf(plan->problem, body);
  }
  Budget budget = BudgetOf(*plan, max_workers);
  std::vector<Draft> drafts;
  drafts.reserve(plan->problem.sequences.size());
  for (std::size_t index = 0; index < plan->problem.sequences.size(); ++index) {
    const Sequence& sequence = plan->problem.sequences[index];
    if (sequence.query_count == 0 || sequence.key_count == 0) continue;
    drafts.push_back(DraftWork(*plan, index, &budget));
  }
  const auto dearer = [](const Draft& a, const Draft& b) { return a.cost > b.cost; };
  if (!std::is_sorted(drafts.begin(), drafts.end(), dearer)) {
    std::stable_sort(drafts.begin(), drafts.end(), dearer);
  }
  FitTilings(drafts, plan);
  NumberWorks(drafts, plan);
}

}  // namespace fia
