// A fuzzed call through the native interface.
#include <vector>

#include "core/arguments.h"
#include "fia/reference.h"
#include "fuzz/run.h"

namespace fia::testing {
namespace {

// Phase one without a place for its results.
std::string FaultWithoutResult(const AttentionParams& params, bool without_size) {
  std::uint64_t size = 1;
  Executor executor;
  const Status status =
      without_size ? GetWorkspaceSize(params, nullptr, &executor) : GetWorkspaceSize(params, &size, nullptr);
  return status.code == StatusCode::kNullPointer ? ""
                                                 : "a null result pointer is not refused: " + status.message;
}

// An address that becomes null: refused when the tensor is used, and nothing is written.
void RunWithoutAddress(const FuzzCall& call, Executor executor, Cursor* cursor, Outcome* outcome) {
  const auto argument = static_cast<Argument>(cursor->Below(kArgumentCount + 4) - 2);
  const std::int64_t member = cursor->Chance(64) ? cursor->Number() : 0;
  const Status set = executor.SetAddress(argument, member, nullptr);
  outcome->Blame(FaultOf(set.code, set.message, 2));
  Workspace workspace = ChooseWorkspace(cursor, 0, call.guard());
  const Status status = Execute(workspace.data, workspace.size, executor);
  outcome->Blame(FaultOf(status.code, status.message, 2));
}

void RunOnce(FuzzCall* call, const Executor& executor, std::uint64_t needed, Cursor* cursor,
             Outcome* outcome) {
  const FuzzCall::Snapshot before = call->Take();
  Workspace workspace = ChooseWorkspace(cursor, needed, call->guard());
  const Status status = Execute(workspace.data, workspace.size, executor);
  outcome->Blame(FaultOf(status.code, status.message, 2));
  if (status.ok() && !workspace.enough) outcome->Blame("ran in a workspace that is null or too small");
  if (!status.ok() && workspace.enough && status.rule == "workspace")
    outcome->Blame("refused a workspace that is large enough: " + status.message);
  if (const char* damage = call->Damage(before, !status.ok())) outcome->Blame(damage);
  if (!status.ok()) return;
  std::vector<std::uint8_t> output = call->OutputBytes();
  if (!outcome->output.empty() && !call->overlapping() && output != outcome->output)
    outcome->Blame("a second run gives other bits");
  outcome->output = std::move(output);
}

// The reference refuses what phase one refuses; it and the judge stay inside the call's memory.
void RunReference(const FuzzCall& call, Cursor* cursor, Outcome* outcome) {
  std::vector<RowIndex> rows(static_cast<std::size_t>(cursor->Below(3)));
  for (RowIndex& row : rows) {
    row = {cursor->Below(3), cursor->Below(3), cursor->Below(3)};
    if (cursor->Chance(16)) row.position = cursor->Number();
    if (cursor->Chance(16)) row.sequence = cursor->Number();
    if (cursor->Chance(16)) row.head = cursor->Number();
  }
  ReferenceResult exact;
  const Status status = ComputeReference(call.params(), &rows, &exact);
  if (outcome->phase_one != StatusCode::kOk && status.code != outcome->phase_one)
    outcome->Blame("the reference takes what phase one refuses");
  CompareWithReference(call.params(), exact);
}

}  // namespace

Outcome RunNative(FuzzCall* call, Cursor* cursor) {
  Outcome outcome;
  if (cursor->Chance(6)) outcome.Blame(FaultWithoutResult(call->params(), cursor->Chance(128)));
  std::uint64_t needed = 1;
  Executor executor;
  const Status status = GetWorkspaceSize(call->params(), &needed, &executor);
  outcome.phase_one = status.code;
  outcome.Blame(FaultOf(status.code, status.message, 1));
  if (status.ok() != executor.valid()) outcome.Blame("status and executor do not agree");
  if (Explain(executor).empty()) outcome.Blame("nothing is explained");
  if (!status.ok()) {
    if (needed != 0) outcome.Blame("a refused call has a workspace size");
    if (Execute(nullptr, 0, executor).code != StatusCode::kRuntimeError)
      outcome.Blame("an executor without a plan runs");
    if (cursor->Chance(16) && call->runnable()) RunReference(*call, cursor, &outcome);
    return outcome;
  }
  if (!call->runnable()) return outcome;
  if (cursor->Chance(24)) RunWithoutAddress(*call, executor, cursor, &outcome);
  const Executor copy = executor;
  RunOnce(call, executor, needed, cursor, &outcome);
  if (cursor->Chance(64)) RunOnce(call, copy, needed, cursor, &outcome);
  if (cursor->Chance(16)) RunReference(*call, cursor, &outcome);
  return outcome;
}

}  // namespace fia::testing
