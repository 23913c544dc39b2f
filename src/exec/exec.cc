#include "exec/exec.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "cpu/thread_pool.h"
#include "exec/checks.h"
#include "exec/context.h"
#include "exec/fill.h"
#include "exec/item.h"
#include "exec/scalar.h"
#include "exec/scales.h"

namespace fia {
namespace {

// What the workers of one run share: each takes the next item until none is left.
struct Region {
  const RunContext* context;
  std::atomic<std::int64_t> next_item{0};
};

void Work(void* argument, std::int64_t worker) {
  auto& region = *static_cast<Region*>(argument);
  const Plan& plan = *region.context->plan;
  std::byte* memory =
      region.context->workspace + plan.workspace.workers + worker * plan.workspace.worker_bytes;
  RowsAhead ahead;
  for (;;) {
    const std::int64_t index = region.next_item.fetch_add(1, std::memory_order_relaxed);
    if (index >= plan.item_count + plan.fill_count) return;
    if (index < plan.item_count) {
      RunItem(*region.context, memory, &ahead, index);
    } else {
      RunFill(*region.context, index - plan.item_count);
    }
  }
}

std::int64_t ReadPadding(const RunContext& context, std::int32_t slot) noexcept {
  if (slot == kNoSlot) return 0;
  return std::max<std::int64_t>(0, ReadAs<std::int64_t>(context.Input(slot, 0)));
}

float ReadElement(const RunContext& context, const VectorTensor& vector) noexcept {
  return vector.present() ? ReadFloat(context.Input(vector.slot, 0), vector.dtype) : 1;
}

RunContext ContextOf(const Plan& plan, void* const* addresses, void* workspace) noexcept {
  constexpr std::uintptr_t kAlignment = 64;
  const Problem& problem = plan.problem;
  RunContext context;
  context.plan = &plan;
  context.addresses = addresses;
  const auto slack = (kAlignment - reinterpret_cast<std::uintptr_t>(workspace) % kAlignment) % kAlignment;
  // Without work there is no workspace, and its address means nothing.
  if (plan.workspace.total > 0) context.workspace = static_cast<std::byte*>(workspace) + slack;
  context.query_padding = ReadPadding(context, problem.query_padding_slot);
  context.kv_padding = ReadPadding(context, problem.kv_padding_slot);
  if (plan.item_count == 0) return context;
  context.score_factor = ReadElement(context, problem.deq_scale1);
  context.weight_scale = ReadElement(context, problem.quant_scale1);
  context.out_factor = ReadElement(context, problem.deq_scale2);
  return context;
}

}  // namespace

Status RunPlan(const Plan& plan, void* const* addresses, void* workspace, std::uint64_t workspace_size) {
  if (Status status = CheckRun(plan, addresses, workspace, workspace_size); !status.ok()) return status;
  const RunContext context = ContextOf(plan, addresses, workspace);
  if (plan.item_count > 0) {
    PrepareChannels(context);
    std::fill_n(context.Shared<std::int32_t>(plan.workspace.arrivals), plan.merge_count, 0);
  }
  Region region{&context};
  if (plan.parallel_for.run != nullptr) {
    plan.parallel_for.run(plan.parallel_for.context, plan.workers, Work, &region);
  } else {
    RunInPool(plan.workers, Work, &region);
  }
  return {};
}

}  // namespace fia
