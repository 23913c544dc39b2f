// What an aclOpExecutor stands for: a planned call, the tensors it was made from, and whether it may run.
#ifndef FIA_ACLNN_EXECUTOR_H_
#define FIA_ACLNN_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "aclnn/tensor.h"
#include "fia/attention.h"

namespace fia::aclnn {

// One tensor of a call and where its elements are.
struct Binding {
  Argument argument = Argument::kQuery;
  std::int64_t member = 0;               // of a list, else 0
  const void* handle = nullptr;          // the tensor's handle; it may be destroyed while the executor lives
  const void* list = nullptr;            // handle of the list that holds it
  std::shared_ptr<const Tensor> tensor;  // null for an argument that this call does not look at
  std::int64_t byte_offset = 0;          // from the tensor's data pointer to its first element
  void* address = nullptr;
};

// Arguments that a setter's index counts.
struct ArgumentSpan {
  std::size_t first = 0;
  std::size_t count = 0;
};

constexpr ArgumentSpan kInputs = {0, 29};
constexpr ArgumentSpan kOutputs = {29, 2};
constexpr ArgumentSpan kAllArguments = {0, 31};

// Thread safe. Addresses may be set at any time; a run takes those set before it began.
class ExecutorRecord {
 public:
  ExecutorRecord(fia::Executor executor, std::vector<Binding> bindings) noexcept
      : executor_(std::move(executor)), bindings_(std::move(bindings)) {}

  // Takes the present addresses of all tensors, or of one.
  void LoadAddresses();
  void ReloadAddresses(const Tensor* tensor);

  // Points the argument that `handle` and `index` tell at `data` (plus the tensor's offset). False when there
  // is no such argument or the executor has ended.
  bool SetTensor(ArgumentSpan span, std::size_t index, const void* handle, void* data);
  bool SetMember(ArgumentSpan span, std::size_t index, std::size_t member, const void* list, void* data);

  // False when the executor has ended.
  bool MakeRepeatable();

  // Begins a run: false when the executor has ended or is running. After a run of a one-shot executor has
  // begun, the executor has ended for everybody else, and *last is true.
  bool BeginRun(bool* last);
  void EndRun();

  // Ends the executor: false when it has ended or is running.
  bool Retire();

  // For the run that has begun.
  const fia::Executor& executor() const noexcept { return executor_; }

 private:
  template <typename Matches>
  bool SetMatching(ArgumentSpan span, std::size_t index, void* data, const Matches& matches);

  std::mutex mutex_;
  fia::Executor executor_;
  std::vector<Binding> bindings_;  // in argument order, a list's members in theirs
  bool addresses_changed_ = false;
  bool repeatable_ = false;
  bool running_ = false;
  bool ended_ = false;
};

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_EXECUTOR_H_
