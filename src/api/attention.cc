#include "fia/attention.h"

#include <exception>
#include <new>
#include <optional>
#include <string>

#include "api/failure.h"
#include "check/check.h"
#include "cpu/isa.h"
#include "describe/describe.h"
#include "exec/exec.h"
#include "plan/plan.h"

namespace fia {
namespace {

Status IsaFailure() {
  return Failure(StatusCode::kTilingError, "FIA_ISA", "isa",
                 "FIA_ISA is \"" + std::string(RefusedIsa()) +
                     "\"; allowed is an instruction set that this build and this CPU have");
}

// How many workers phase two may use: the call's own limit, else what the caller's ParallelFor or the
// library's threads offer.
int MaxWorkers(const Execution& execution) noexcept {
  if (execution.num_threads > 0) return execution.num_threads;
  if (!execution.parallel_for) return NumThreads();
  return execution.parallel_for->width > 0 ? execution.parallel_for->width : 1;
}

// The stages of phase one in a row.
Status PlanCall(const AttentionParams& params, std::shared_ptr<const Plan>* plan) {
  Call call;
  if (Status status = CheckCall(params, &call); !status.ok()) return status;
  const KernelTable* kernels = ActiveKernels();
  if (kernels == nullptr) return IsaFailure();
  *plan = std::make_shared<const Plan>(MakePlan(Describe(params, call), *kernels,
                                                MaxWorkers(params.execution), params.execution.parallel_for));
  return {};
}

}  // namespace

Status GetWorkspaceSize(const AttentionParams& params, std::uint64_t* workspace_size,
                        Executor* executor) noexcept {
  if (workspace_size != nullptr) *workspace_size = 0;
  if (executor != nullptr) *executor = Executor();
  try {
    if (workspace_size == nullptr || executor == nullptr) {
      const char* name = workspace_size == nullptr ? "workspaceSize" : "executor";
      return Failure(StatusCode::kNullPointer, name, "null",
                     std::string(name) + " is null; allowed is a pointer");
    }
    Executor planned;
    if (Status status = PlanCall(params, &planned.plan_); !status.ok()) return status;
    planned.TakeAddresses(params);
    *workspace_size = static_cast<std::uint64_t>(planned.plan_->workspace.total);
    *executor = std::move(planned);
    return {};
  } catch (...) {
    return CaughtFailure(StatusCode::kTilingError);
  }
}

Status Execute(void* workspace, std::uint64_t workspace_size, const Executor& executor) noexcept {
  try {
    if (!executor.valid()) {
      return Failure(StatusCode::kRuntimeError, "executor", "executor",
                     "executor holds no plan; allowed is one that phase one has made");
    }
    return RunPlan(*executor.plan(), executor.addresses(), workspace, workspace_size);
  } catch (...) {
    return CaughtFailure(StatusCode::kRuntimeError);
  }
}

}  // namespace fia
