#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "core/fill.h"
#include "plan/works.h"
#include "plan/workspace.h"

namespace fia {
namespace {

// Here types become bytes: below this line the kernels of one element type serve the call.
KvType KvTypeOf(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kBfloat16:
      return KvType::kBfloat16;
    case DataType::kFloat32:
      return KvType::kFloat32;
    case DataType::kInt8:
      return KvType::kInt8;
    case DataType::kInt4:
      return KvType::kInt4;
    default:
      return KvType::kFloat16;
  }
}

// Whether the sequence's output may have rows that no item computes.
bool NeedsFill(const Problem& problem, const Sequence& sequence) noexcept {
  if (sequence.query_axis == 0) return false;
  const bool left_padded = problem.query_padding_slot != kNoSlot || problem.kv_padding_slot != kNoSlot;
  return left_padded || sequence.query_count < sequence.query_axis || sequence.key_count == 0;
}

void ListFills(Plan* plan) {
  const Problem& problem = plan->problem;
  if (problem.fill_only) {
    plan->fill_count = FillRowsOf(problem.fill_out).runs() + FillRowsOf(problem.fill_lse).runs();
    return;
  }
  for (std::size_t index = 0; index < problem.sequences.size(); ++index) {
    if (NeedsFill(problem, problem.sequences[index])) {
      plan->fills.push_back(static_cast<std::int32_t>(index));
    }
  }
  plan->fill_count = static_cast<std::int64_t>(plan->fills.size()) * problem.num_kv_heads;
}

}  // namespace

Plan MakePlan(Problem problem, const KernelTable& kernels, int max_workers,
              const std::optional<ParallelFor>& parallel_for) {
  Plan plan;
  plan.problem = std::move(problem);
  plan.kernels = &kernels;
  if (!plan.problem.storage.empty()) plan.kv_type = KvTypeOf(plan.problem.storage.front().key.dtype);
  if (parallel_for) plan.parallel_for = *parallel_for;
  ListFills(&plan);
  if (!plan.problem.fill_only) CutIntoWorks(max_workers, &plan);
  const std::int64_t items = std::max<std::int64_t>(1, plan.item_count + plan.fill_count);
  plan.workers = static_cast<int>(std::min<std::int64_t>(max_workers, items));
  plan.workspace = LayOutWorkspace(plan);
  return plan;
}

}  // namespace fia
