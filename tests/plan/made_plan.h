// Normal forms made by hand, their plans, and what must hold of every plan.
#ifndef FIA_TESTS_PLAN_MADE_PLAN_H_
#define FIA_TESTS_PLAN_MADE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace fia::testing {

// As much as kernels may reasonably want: float queries, keys, values and scores.
std::int64_t QueryBytes(Body body, const TileShape& shape);
std::int64_t ScratchBytes(Body body, const TileShape& shape);

// Kernels that ask for that much and compute nothing.
extern const KernelTable kKernels;

struct Lengths {
  std::int64_t rows;
  std::int64_t keys;
};

// A call of float16 over one storage. Its strides are 0 but for those that a test sets.
Problem MakeProblem(std::int64_t heads, std::int64_t kv_heads, std::int64_t dim, std::int64_t value_dim,
                    const std::vector<Lengths>& lengths, bool causal = false);

Plan PlanOf(const Problem& problem, int workers);

// Counts how often each row and, within a row tile, each attended chunk of keys occurs.
void ExpectExactCover(const Plan& plan, const std::string& name);

}  // namespace fia::testing

#endif  // FIA_TESTS_PLAN_MADE_PLAN_H_
