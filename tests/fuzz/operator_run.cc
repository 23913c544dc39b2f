// A fuzzed call through the operator's C interface.
#include <cstdlib>
#include <cstring>

#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "fuzz/operator_arguments.h"
#include "fuzz/run.h"

namespace fia::testing {
namespace {

StatusCode CodeOf(aclnnStatus status) { return static_cast<StatusCode>(status); }

void SetCheckLevel(Check check) { setenv("FIA_CHECK", check == Check::kRelaxed ? "relaxed" : "strict", 1); }

// One call and the executors made from it.
class OperatorRun {
 public:
  OperatorRun(FuzzCall* call, Cursor* cursor)
      : call_(call), cursor_(cursor), arguments_(call->params(), cursor) {
    outcome_.faithful = arguments_.faithful();
  }

  Outcome Run() {
    SetCheckLevel(call_->params().execution.check);
    if (cursor_->Chance(6)) PlanWithoutResult();
    aclOpExecutor* executor = Plan();
    outcome_.phase_one = planned_;
    if (executor == nullptr) return outcome_;
    if (!call_->runnable() || !arguments_.addressed()) {
      Expect(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS, "an executor that never ran is not destroyed");
      return outcome_;
    }
    if (cursor_->Chance(64)) arguments_.Destroy(cursor_->Chance(128));
    switch (cursor_->Below(6)) {
      case 0:
        RunRepeatedly(executor);
        break;
      case 1:
        Expect(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS, "an executor is not destroyed");
        ExpectRefused(executor);
        break;
      case 2:
        RunWithOther(executor);
        break;
      case 3:
        MoveAddresses(executor);
        RunOnce(executor, needed_);
        outcome_.faithful = false;
        break;
      default:
        RunOnce(executor, needed_);
        ExpectRefused(executor);
    }
    return outcome_;
  }

 private:
  void Expect(bool holds, const char* what) {
    if (!holds) outcome_.Blame(what);
  }

  void PlanWithoutResult() {
    std::uint64_t size = 1;
    aclOpExecutor* executor = reinterpret_cast<aclOpExecutor*>(&size);
    const bool without_size = cursor_->Chance(128);
    const aclnnStatus status = without_size ? arguments_.PhaseOne(call_->params(), nullptr, &executor)
                                            : arguments_.PhaseOne(call_->params(), &size, nullptr);
    Expect(status == ACLNN_ERR_PARAM_NULLPTR, "a null result pointer is not refused");
    Expect(without_size ? executor == nullptr : size == 0, "a refused call leaves a result");
  }

  // Phase one; null when it refuses.
  aclOpExecutor* Plan() {
    needed_ = 1;
    aclOpExecutor* executor = reinterpret_cast<aclOpExecutor*>(&needed_);
    planned_ = CodeOf(arguments_.PhaseOne(call_->params(), &needed_, &executor));
    outcome_.Blame(FaultOf(planned_, aclGetRecentErrMsg(), 1));
    if (planned_ == StatusCode::kOk) {
      Expect(executor != nullptr, "no executor of an accepted call");
      return executor;
    }
    Expect(needed_ == 0 && executor == nullptr, "a refused call leaves a result");
    return nullptr;
  }

  void ExpectRefused(aclOpExecutor* executor) {
    const FuzzCall::Snapshot before = call_->Take();
    Memory workspace(static_cast<std::size_t>(needed_), call_->guard(), 0);
    Expect(aclnnFusedInferAttentionScoreV4(workspace.data(), needed_, executor, nullptr) ==
               ACLNN_ERR_RUNTIME_ERROR,
           "an executor that has ended runs");
    Expect(std::strlen(aclGetRecentErrMsg()) > 0, "no message");
    Expect(call_->Damage(before, true) == nullptr, "an executor that has ended writes");
    Expect(aclDestroyAclOpExecutor(executor) == ACLNN_ERR_RUNTIME_ERROR, "destroyed twice");
    Expect(aclSetAclOpExecutorRepeatable(executor) == ACLNN_ERR_RUNTIME_ERROR, "repeatable after its end");
  }

  void RunOnce(aclOpExecutor* executor, std::uint64_t needed) {
    const FuzzCall::Snapshot before = call_->Take();
    Workspace workspace = ChooseWorkspace(cursor_, needed, call_->guard());
    const StatusCode code =
        CodeOf(aclnnFusedInferAttentionScoreV4(workspace.data, workspace.size, executor, nullptr));
    outcome_.Blame(FaultOf(code, aclGetRecentErrMsg(), 2));
    Expect(workspace.enough || code != StatusCode::kOk, "ran in a workspace that is null or too small");
    if (const char* damage = call_->Damage(before, code != StatusCode::kOk)) outcome_.Blame(damage);
    if (code == StatusCode::kOk) outcome_.output = call_->OutputBytes();
  }

  void RunRepeatedly(aclOpExecutor* executor) {
    Expect(aclSetAclOpExecutorRepeatable(executor) == ACL_SUCCESS, "not repeatable");
    for (std::int64_t runs = cursor_->Below(3); runs >= 0; --runs) RunOnce(executor, needed_);
    Expect(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS, "a repeatable executor is not destroyed");
    ExpectRefused(executor);
  }

  // Two executors, one workspace after another: that of the first for both.
  void RunWithOther(aclOpExecutor* executor) {
    const std::uint64_t needed = needed_;
    aclOpExecutor* other = Plan();
    RunOnce(executor, needed);
    if (other == nullptr) return;  // its arguments are destroyed
    Memory workspace(static_cast<std::size_t>(needed), call_->guard(), cursor_->Byte());
    const aclnnStatus status = aclnnFusedInferAttentionScoreV4(workspace.data(), needed, other, nullptr);
    outcome_.Blame(FaultOf(CodeOf(status), aclGetRecentErrMsg(), 2));
    ExpectRefused(other);
  }

  // Addresses of arguments that may be there or not: null, or the one that it has.
  void MoveAddresses(aclOpExecutor* executor) {
    const std::int64_t number = cursor_->Below(kArgumentCount);
    const std::size_t index = cursor_->Chance(32)
                                  ? static_cast<std::size_t>(cursor_->Number())
                                  : static_cast<std::size_t>(cursor_->Below(kArgumentCount + 2));
    const auto member = static_cast<std::size_t>(cursor_->Below(3));
    auto* tensor = static_cast<aclTensor*>(const_cast<void*>(arguments_.at(number)));
    auto* list = static_cast<aclTensorList*>(const_cast<void*>(arguments_.at(number)));
    switch (cursor_->Below(6)) {
      case 0:
        aclSetInputTensorAddr(executor, index, tensor, nullptr);
        return;
      case 1:
        aclSetOutputTensorAddr(executor, index, tensor, nullptr);
        return;
      case 2:
        aclSetTensorAddr(executor, index, tensor, nullptr);
        return;
      case 3:
        aclSetDynamicInputTensorAddr(executor, index, member, list, nullptr);
        return;
      case 4:
        aclSetDynamicTensorAddr(executor, index, member, list, nullptr);
        return;
      default:
        aclSetRawTensorAddr(tensor, nullptr);
    }
  }

  FuzzCall* call_;
  Cursor* cursor_;
  OperatorArguments arguments_;
  Outcome outcome_;
  StatusCode planned_ = StatusCode::kOk;  // what phase one said last
  std::uint64_t needed_ = 0;
};

}  // namespace

Outcome RunOperator(FuzzCall* call, Cursor* cursor) { return OperatorRun(call, cursor).Run(); }

}  // namespace fia::testing
