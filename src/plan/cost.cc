#include "plan/cost.h"

#include <algorithm>

#include "core/items.h"
#include "core/sizes.h"

namespace fia {
namespace {

// Sum of min(y, limit) over y = 1..x.
double SumOfClamped(double x, double limit) noexcept {
  if (x <= 0) return 0;
  if (x <= limit) return x * (x + 1) / 2;
  return limit * (limit + 1) / 2 + (x - limit) * limit;
}

// Keys before position i + shift, summed over the query positions i.
double KeysBefore(const Sequence& sequence, std::int64_t shift) noexcept {
  const std::int64_t rows = sequence.query_count, keys = sequence.key_count;
  const auto start = static_cast<double>(std::clamp(shift, -rows, keys));
  const auto limit = static_cast<double>(keys);
  return SumOfClamped(static_cast<double>(rows) - 1 + start, limit) - SumOfClamped(start - 1, limit);
}

}  // namespace

double AttendedPairs(const Sequence& sequence) noexcept {
  if (sequence.band_high < sequence.band_low) return 0;
  return KeysBefore(sequence, sequence.band_high + 1) - KeysBefore(sequence, sequence.band_low);
}

double LargestTileCost(const Sequence& sequence, std::int64_t group, std::int64_t row_tile) noexcept {
  const std::int64_t rows = sequence.query_count * group;
  const std::int64_t tiles = CeilDiv(rows, row_tile);
  double largest = 0;
  // A band's width over the tiles has one peak: at an end, or flat around the middle.
  for (const std::int64_t tile : {tiles - 1, tiles / 2, std::int64_t{0}}) {
    const std::int64_t first = tile * row_tile;
    const std::int64_t count = std::min(row_tile, rows - first);
    const KeyRange keys = AttendedKeys(sequence, first / group, (first + count - 1) / group);
    if (keys.empty()) continue;
    largest = std::max(largest,
                       static_cast<double>(keys.end - keys.begin) * (static_cast<double>(count) + kKeyCost));
  }
  return largest;
}

}  // namespace fia
