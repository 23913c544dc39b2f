#include "aclnn/executor.h"

#include "aclnn/aclnn_base.h"

namespace fia::aclnn {

void ExecutorRecord::LoadAddresses() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Binding& binding : bindings_) {
    if (binding.tensor) binding.address = Advance(binding.tensor->data.load(), binding.byte_offset);
  }
  addresses_changed_ = true;
}

void ExecutorRecord::ReloadAddresses(const Tensor* tensor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Binding& binding : bindings_) {
    if (binding.tensor.get() != tensor) continue;
    binding.address = Advance(tensor->data.load(), binding.byte_offset);
    addresses_changed_ = true;
  }
}

// The argument at `index` if one of its tensors matches, else the only argument with one that matches.
template <typename Matches>
bool ExecutorRecord::SetMatching(ArgumentSpan span, std::size_t index, void* data, const Matches& matches) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return false;
  Binding* found = nullptr;
  bool several = false;
  for (Binding& binding : bindings_) {
    const std::size_t number = static_cast<std::size_t>(binding.argument) - span.first;
    if (number >= span.count || !matches(binding)) continue;
    if (number == index) {
      found = &binding;
      several = false;
      break;
    }
    several = several || (found != nullptr && found->argument != binding.argument);
    if (found == nullptr) found = &binding;
  }
  if (found == nullptr || several) return false;
  found->address = Advance(data, found->byte_offset);
  addresses_changed_ = true;
  return true;
}

bool ExecutorRecord::SetTensor(ArgumentSpan span, std::size_t index, const void* handle, void* data) {
  return SetMatching(span, index, data, [handle](const Binding& binding) {
    return binding.handle == handle || (binding.list == handle && binding.member == 0);
  });
}

bool ExecutorRecord::SetMember(ArgumentSpan span, std::size_t index, std::size_t member, const void* list,
                               void* data) {
  return SetMatching(span, index, data, [member, list](const Binding& binding) {
    return binding.list == list && static_cast<std::size_t>(binding.member) == member;
  });
}

bool ExecutorRecord::MakeRepeatable() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return false;
  repeatable_ = true;
  return true;
}

bool ExecutorRecord::BeginRun(bool* last) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || running_) return false;
  if (addresses_changed_) {
    for (const Binding& binding : bindings_) {
      if (binding.tensor) executor_.SetAddress(binding.argument, binding.member, binding.address);
    }
    addresses_changed_ = false;
  }
  running_ = true;
  ended_ = !repeatable_;
  *last = ended_;
  return true;
}

void ExecutorRecord::EndRun() {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_ = false;
}

bool ExecutorRecord::Retire() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || running_) return false;
  ended_ = true;
  return true;
}

namespace {

std::shared_ptr<ExecutorRecord> FindRecord(const aclOpExecutor* executor) {
  return TableOf<ExecutorRecord>().Find(executor);
}

aclnnStatus SetTensor(const aclOpExecutor* executor, ArgumentSpan span, std::size_t index,
                      const aclTensor* tensor, void* data) {
  const auto record = FindRecord(executor);
  const bool done = record && tensor != nullptr && record->SetTensor(span, index, tensor, data);
  return done ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

aclnnStatus SetMember(const aclOpExecutor* executor, ArgumentSpan span, std::size_t index, std::size_t member,
                      const aclTensorList* list, void* data) {
  const auto record = FindRecord(executor);
  const bool done = record && list != nullptr && record->SetMember(span, index, member, list, data);
  return done ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

}  // namespace
}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return SetTensor(executor, kAllArguments, index, tensor, addr);
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return SetTensor(executor, kInputs, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return SetTensor(executor, kOutputs, index, tensor, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return SetMember(executor, kAllArguments, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return SetMember(executor, kInputs, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  const auto record = FindRecord(executor);
  return record && record->MakeRepeatable() ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  const auto record = FindRecord(executor);
  if (!record || !record->Retire()) return ACLNN_ERR_RUNTIME_ERROR;
  TableOf<ExecutorRecord>().Remove(executor);
  return ACLNN_SUCCESS;
}

}  // extern "C"
