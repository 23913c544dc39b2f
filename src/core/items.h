// Which part of a call a work item is: its rows, and the keys that they attend.
#ifndef FIA_CORE_ITEMS_H_
#define FIA_CORE_ITEMS_H_

#include <cstdint>

#include "core/plan.h"

namespace fia {

// Key positions [begin, end); empty when begin >= end.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool empty() const noexcept { return begin >= end; }
};

// One work item. Row r of it is row first_row + r of the sequence's S1 * G rows: query position row / G, head
// kv_head * G + row % G.
struct Item {
  const SequenceWork* work = nullptr;
  std::int64_t kv_head = 0;
  std::int64_t row_tile = 0;
  std::int64_t split = 0;  // counted from work->first_split
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t first_query = 0;  // query positions of the first and the last row
  std::int64_t last_query = 0;
  std::int64_t merge = 0;    // splits > 1: its arrival counter
  std::int64_t partial = 0;  // splits > 1: byte offset of the first partial state of its rows
};

// The item of that index, 0 <= index < plan.item_count.
Item ItemAt(const Plan& plan, std::int64_t index) noexcept;

// Keys that some query position in [first_query, last_query] attends by the sequence's band.
KeyRange AttendedKeys(const Sequence& sequence, std::int64_t first_query, std::int64_t last_query) noexcept;

// Those of them that belong to one split of the item's keys.
KeyRange AttendedKeys(const Plan& plan, const Item& item, std::int64_t split) noexcept;

}  // namespace fia

#endif  // FIA_CORE_ITEMS_H_
