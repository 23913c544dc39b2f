// A fuzzed call's arguments as handles of the operator's C interface.
#ifndef FIA_TESTS_FUZZ_OPERATOR_ARGUMENTS_H_
#define FIA_TESTS_FUZZ_OPERATOR_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "core/arguments.h"
#include "fia/attention.h"
#include "fuzz/cursor.h"

namespace fia::testing {

class OperatorArguments {
 public:
  OperatorArguments(const AttentionParams& params, Cursor* cursor);
  ~OperatorArguments() { Destroy(false); }
  OperatorArguments(const OperatorArguments&) = delete;
  OperatorArguments& operator=(const OperatorArguments&) = delete;

  // The handles say what `params` say.
  bool faithful() const { return faithful_; }
  // Every tensor's address is that of the view.
  bool addressed() const { return addressed_; }

  const void* at(Argument argument) const { return handles_[static_cast<int>(argument)]; }
  const void* at(std::int64_t number) const { return handles_[number]; }

  aclnnStatus PhaseOne(const AttentionParams& params, std::uint64_t* size, aclOpExecutor** executor);

  // Destroys everything, in the order of making or the other way round. What is destroyed already stays so.
  void Destroy(bool backwards);

 private:
  enum class Kind { kTensor, kList, kArray };
  struct Made {
    Kind kind;
    const void* handle;
  };

  const aclTensor* MakeTensor(const TensorView& view, Cursor* cursor);
  const aclTensorList* MakeList(const std::vector<TensorView>& members, Cursor* cursor);
  const aclIntArray* MakeArray(const std::vector<std::int64_t>& values);
  void SpoilHandle(Cursor* cursor);

  const void* handles_[kArgumentCount] = {};
  std::vector<Made> made_;
  bool faithful_ = true;
  bool addressed_ = true;
};

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_OPERATOR_ARGUMENTS_H_
