// What work costs, in units of one row meeting one key.
#ifndef FIA_PLAN_COST_H_
#define FIA_PLAN_COST_H_

#include <cstdint>

#include "core/problem.h"

namespace fia {

// Loading and converting one key and its value for a tile costs about as much as this many rows do.
constexpr double kKeyCost = 8;

// How many (query position, key) pairs lie in the sequence's band.
double AttendedPairs(const Sequence& sequence) noexcept;

// The most expensive of a sequence's row tiles of `row_tile` rows, for one kv head.
double LargestTileCost(const Sequence& sequence, std::int64_t group, std::int64_t row_tile) noexcept;

}  // namespace fia

#endif  // FIA_PLAN_COST_H_
