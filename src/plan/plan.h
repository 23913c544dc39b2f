// Chooses kernels, tiles, splits and the workspace for a problem.
#ifndef FIA_PLAN_PLAN_H_
#define FIA_PLAN_PLAN_H_

#include "core/plan.h"
#include "fia/attention.h"

namespace fia {

// Plans `problem` for the kernels of `kernels`. `max_workers` >= 1. May throw std::bad_alloc.
Plan MakePlan(Problem problem, const KernelTable& kernels, int max_workers,
              const std::optional<ParallelFor>& parallel_for);

}  // namespace fia

#endif  // FIA_PLAN_PLAN_H_
