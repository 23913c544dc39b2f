#include "exec/checks.h"

#include <string>

#include "core/arguments.h"
#include "core/sizes.h"
#include "exec/scalar.h"

namespace fia {
namespace {

Status Refusal(const char* parameter, const char* rule, const std::string& message) {
  return {StatusCode::kRuntimeError, parameter, rule, message + " [" + rule + "]"};
}

Status CheckWorkspace(const Plan& plan, const void* workspace, std::uint64_t workspace_size) {
  const auto needed = static_cast<std::uint64_t>(plan.workspace.total);
  if (needed == 0) return {};
  if (workspace == nullptr) {
    return Refusal("workspace", "workspace",
                   "workspace is null; allowed is a buffer of " + std::to_string(needed) + " bytes");
  }
  if (workspace_size >= needed) return {};
  return Refusal("workspaceSize", "workspace",
                 "workspaceSize is " + std::to_string(workspace_size) + "; allowed is at least the " +
                     std::to_string(needed) + " bytes that phase one asked for");
}

// Slots after the arguments' own are further members of the key list, then of the value list, equally many.
Status NullAddress(const Plan& plan, std::int32_t slot) {
  Argument argument = static_cast<Argument>(slot);
  std::string member;
  if (slot >= kArgumentCount) {
    const auto further = static_cast<std::int32_t>(plan.problem.storage.size()) - 1;
    const std::int32_t index = slot - kArgumentCount;
    argument = index < further ? Argument::kKey : Argument::kValue;
    member = " member " + std::to_string((index < further ? index : index - further) + 1);
  }
  const char* name = ArgumentName(argument);
  return Refusal(name, "address",
                 name + member + " has a null address; allowed is the address of its data, which is used");
}

Status CheckAddresses(const Plan& plan, void* const* addresses) {
  for (const std::int32_t slot : plan.problem.used_slots) {
    if (addresses[slot] == nullptr) return NullAddress(plan, slot);
  }
  return {};
}

Status CheckBlockIds(const Plan& plan, void* const* addresses) {
  const Problem& problem = plan.problem;
  if (problem.block_table_slot == kNoSlot) return {};
  const auto* table = static_cast<const char*>(addresses[problem.block_table_slot]);
  for (std::size_t index = 0; index < problem.sequences.size(); ++index) {
    const Sequence& sequence = problem.sequences[index];
    if (sequence.query_count == 0) continue;
    const char* row = table + static_cast<std::int64_t>(index) * problem.table_row_stride;
    const std::int64_t blocks = CeilDiv(sequence.key_count, problem.block_size);
    for (std::int64_t block = 0; block < blocks; ++block) {
      const auto id = ReadAs<std::int32_t>(row + block * problem.table_block_stride);
      if (id >= 0 && id < problem.block_count) continue;
      return Refusal("blockTable", "block_id",
                     "blockTable[" + std::to_string(index) + "][" + std::to_string(block) + "] is " +
                         std::to_string(id) + "; allowed is 0.." + std::to_string(problem.block_count - 1) +
                         " in the entries before ceil(" + std::to_string(sequence.key_count) + " / " +
                         std::to_string(problem.block_size) + ") that sequence " + std::to_string(index) +
                         " uses");
    }
  }
  return {};
}

}  // namespace

Status CheckRun(const Plan& plan, void* const* addresses, const void* workspace,
                std::uint64_t workspace_size) {
  if (Status status = CheckWorkspace(plan, workspace, workspace_size); !status.ok()) return status;
  if (Status status = CheckAddresses(plan, addresses); !status.ok()) return status;
  return CheckBlockIds(plan, addresses);
}

}  // namespace fia
