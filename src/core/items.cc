#include "core/items.h"

#include <algorithm>

namespace fia {

Item ItemAt(const Plan& plan, std::int64_t index) noexcept {
  const auto after =
      std::upper_bound(plan.works.begin(), plan.works.end(), index,
                       [](std::int64_t value, const SequenceWork& work) { return value < work.first_item; });
  const SequenceWork& work = *(after - 1);
  const std::int64_t group = plan.problem.group;
  const std::int64_t local = index - work.first_item;
  const std::int64_t tiles = plan.problem.num_kv_heads * work.row_tiles;
  const std::int64_t tile = local % tiles;  // kv head and row tile
  Item item;
  item.work = &work;
  item.split = local / tiles;
  item.kv_head = tile / work.row_tiles;
  item.row_tile = work.row_tiles - 1 - tile % work.row_tiles;
  item.first_row = item.row_tile * work.row_tile;
  const std::int64_t rows =
      plan.problem.sequences[static_cast<std::size_t>(work.sequence)].query_count * group;
  item.rows = std::min(work.row_tile, rows - item.first_row);
  item.first_query = item.first_row / group;
  item.last_query = (item.first_row + item.rows - 1) / group;
  item.merge = work.first_merge + tile;
  item.partial = work.first_partial + tile * work.splits * work.partial_stride;
  return item;
}

KeyRange AttendedKeys(const Sequence& sequence, std::int64_t first_query, std::int64_t last_query) noexcept {
  return {std::max<std::int64_t>(0, first_query + sequence.band_low),
          std::min(sequence.key_count, last_query + sequence.band_high + 1)};
}

KeyRange AttendedKeys(const Plan& plan, const Item& item, std::int64_t split) noexcept {
  const SequenceWork& work = *item.work;
  KeyRange keys = AttendedKeys(plan.problem.sequences[static_cast<std::size_t>(work.sequence)],
                               item.first_query, item.last_query);
  if (work.splits == 1) return keys;
  const std::int64_t split_keys = work.split_chunks * plan.tilings[static_cast<int>(work.body)].chunk_keys;
  const std::int64_t subtree = work.first_split + split;
  keys.begin = std::max(keys.begin, subtree * split_keys);
  keys.end = std::min(keys.end, (subtree + 1) * split_keys);
  return keys;
}

}  // namespace fia
