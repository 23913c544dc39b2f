#include "describe/slots.h"

#include <algorithm>

#include "core/arguments.h"

namespace fia {
namespace {

bool HasElements(const TensorView& view) noexcept {
  return view.present() && std::none_of(view.dims, view.dims + view.rank, [](auto dim) { return dim == 0; });
}

void Add(std::int32_t slot, std::vector<std::int32_t>* slots) {
  if (slot != kNoSlot) slots->push_back(slot);
}

// Keys and values that some query position may attend.
void AddStorage(const Problem& problem, std::vector<std::int32_t>* slots) {
  std::vector<bool> added(problem.storage.size());
  for (const Sequence& sequence : problem.sequences) {
    if (sequence.query_count == 0) continue;
    for (int index = 0; index < sequence.segment_count; ++index) {
      const auto number = static_cast<std::size_t>(sequence.segments[index].tensors);
      if (added[number]) continue;
      added[number] = true;
      const KvTensors& tensors = problem.storage[number];
      Add(tensors.key.slot, slots);
      Add(tensors.value.slot, slots);
      Add(tensors.rope.slot, slots);
    }
  }
}

// What every row that has keys reads.
void AddRowInputs(const Problem& problem, std::vector<std::int32_t>* slots) {
  for (const std::int32_t slot :
       {problem.query.slot, problem.query_rope.slot, problem.mask.slot, problem.bias.slot, problem.sink.slot,
        problem.block_table_slot, problem.query_scale.slot, problem.deq_scale1.slot,
        problem.quant_scale1.slot, problem.deq_scale2.slot, problem.output_quantisation.scale_slot}) {
    Add(slot, slots);
  }
  // Combined scales give key and value the same slot.
  Add(problem.key_scale.slot, slots);
  Add(problem.key_offset.slot, slots);
  if (problem.value_scale.slot != problem.key_scale.slot) Add(problem.value_scale.slot, slots);
  if (problem.value_offset.slot != problem.key_offset.slot) Add(problem.value_offset.slot, slots);
}

}  // namespace

void ListUsedSlots(Problem* problem) {
  std::vector<std::int32_t>& slots = problem->used_slots;
  slots.reserve(20 + 3 * problem->storage.size());
  if (problem->fill_only) {
    if (HasElements(problem->fill_out)) Add(AddressSlot(Argument::kAttentionOut, 0, 1), &slots);
    if (HasElements(problem->fill_lse)) Add(AddressSlot(Argument::kSoftmaxLse, 0, 1), &slots);
    return;
  }
  Add(problem->out.slot, &slots);
  Add(problem->lse.slot, &slots);
  Add(problem->query_padding_slot, &slots);
  Add(problem->kv_padding_slot, &slots);
  bool scored = false, offset_read = false;
  for (const Sequence& sequence : problem->sequences) {
    if (sequence.query_count == 0) continue;
    scored = scored || sequence.key_count > 0;
    offset_read = offset_read || sequence.key_count > 0 || problem->output_quantisation.empty_row_is_offset;
  }
  if (scored) {
    AddRowInputs(*problem, &slots);
    AddStorage(*problem, &slots);
  }
  if (offset_read) Add(problem->output_quantisation.offset_slot, &slots);
}

}  // namespace fia
