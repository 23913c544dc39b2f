// How big tiles and chunks are.
#ifndef FIA_PLAN_TILING_H_
#define FIA_PLAN_TILING_H_

#include <cstdint>

#include "core/plan.h"

namespace fia {

// Which body of the plan's kernels serves a sequence: decided by its own S1 * G, the call's types and scale
// and innerPrecise, never by its neighbours or its keys.
Body BodyOf(const Plan& plan, const Sequence& sequence) noexcept;

// The tiles of a body. Keys and chunk are final; rows are the most that fit, depth and state are left open.
// Depends on nothing but the flow, D, Dr, Dv and the body, so that key positions fall into the same tiles in
// every call.
Tiling TilingOf(const Problem& problem, Body body) noexcept;

// The arrays of one softmax state of `rows` rows.
StateLayout LayOutState(std::int64_t rows, std::int64_t value_dim, bool offset_sums);

}  // namespace fia

#endif  // FIA_PLAN_TILING_H_
