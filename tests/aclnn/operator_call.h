// A small call of the operator through its C interface, with named arguments, and data whose result is known.
#ifndef FIA_TESTS_ACLNN_OPERATOR_CALL_H_
#define FIA_TESTS_ACLNN_OPERATOR_CALL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/fp16_t.h"
#include "fia/attention.h"

namespace fia::testing {

// One element type as the C interface numbers it.
constexpr aclDataType Acl(DataType dtype) { return static_cast<aclDataType>(dtype); }

aclTensor* MakeAclTensor(const std::vector<std::int64_t>& dims, aclDataType dtype, void* data);

// The numbers of decode attention over two keys with one head, D 64 (BNSD). The query is 1/64 everywhere,
// rows of key and value are constant: out = (exp(k0) v0 + exp(k1) v1) / (exp(k0) + exp(k1)).
struct TwoKeys {
  explicit TwoKeys(float k0 = 0, float k1 = 0, float v0 = 0, float v1 = 0);

  std::vector<op::fp16_t> query, key, value, out;
  float lse[1] = {0};
};

constexpr std::int64_t kTwoKeysDim = 64;

// The arguments of phase one. Starts as decode over `data`; a test changes what it is about.
class OperatorCall {
 public:
  explicit OperatorCall(TwoKeys* data);
  ~OperatorCall();  // destroys what it made; the rest is the test's
  OperatorCall(const OperatorCall&) = delete;
  OperatorCall& operator=(const OperatorCall&) = delete;

  // The handle of an argument.
  const void*& at(Argument argument) { return handles_[static_cast<int>(argument)]; }
  aclTensor* tensor(Argument argument) { return static_cast<aclTensor*>(const_cast<void*>(at(argument))); }
  aclTensorList* list(Argument argument) {
    return static_cast<aclTensorList*>(const_cast<void*>(at(argument)));
  }

  aclnnStatus PhaseOne();                // sets workspace_size and executor
  aclnnStatus PhaseTwo();                // runs `executor` in a workspace of its own
  aclnnStatus PhaseTwo(aclOpExecutor*);  // runs any

  // Tensors and lists of the first state. Key and value are lists of one.
  aclTensor* key_tensor = nullptr;
  aclTensor* value_tensor = nullptr;

  std::int64_t num_heads = 1;
  double scale = 1;
  std::int64_t pre_tokens = 2147483647;
  std::int64_t next_tokens = 2147483647;
  std::string layout = "BNSD";
  bool null_layout = false;
  std::int64_t num_kv_heads = 0;
  std::int64_t sparse_mode = 0;
  std::int64_t inner_precise = 0;
  std::int64_t block_size = 0;
  std::int64_t antiquant_mode = 0;
  bool softmax_lse = false;
  std::int64_t key_antiquant_mode = 0;
  std::int64_t value_antiquant_mode = 0;
  std::int64_t query_quant_mode = 0;

  std::uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;

 private:
  const void* handles_[31] = {};
  std::vector<const aclTensor*> owned_tensors_;
  std::vector<const aclTensorList*> owned_lists_;
  std::vector<unsigned char> workspace_;
};

// What phase two writes for these numbers, to within the rounding of the output.
::testing::AssertionResult OutputIs(const TwoKeys& data, double k0, double k1, double v0, double v1);

}  // namespace fia::testing

#endif  // FIA_TESTS_ACLNN_OPERATOR_CALL_H_
