// Cuts the sequences into work items.
#ifndef FIA_PLAN_WORKS_H_
#define FIA_PLAN_WORKS_H_

#include "core/plan.h"

namespace fia {

// Sets plan->works, the tilings' rows, depth and state, and the numbers of items, merges and partial states.
// `max_workers` is what the cut is made for; results do not depend on it.
void CutIntoWorks(int max_workers, Plan* plan);

}  // namespace fia

#endif  // FIA_PLAN_WORKS_H_
