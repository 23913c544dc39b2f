// Phase two takes no memory from the heap.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/operator_call.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"

namespace {

thread_local std::int64_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fia::testing {
namespace {

TEST(Allocations, ThereAreNoneInPhaseTwo) {
  TwoKeys data(0, 1, 2, 4);
  OperatorCall call(&data);
  const std::int64_t before = allocations;
  ASSERT_EQ(call.PhaseOne(), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_GT(allocations, before);  // the count counts
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), ACL_SUCCESS);
  std::vector<unsigned char> workspace(call.workspace_size);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(aclSetInputTensorAddr(call.executor, 2, call.value_tensor, data.value.data()), ACL_SUCCESS);
    const std::int64_t at_start = allocations;
    const aclnnStatus status =
        aclnnFusedInferAttentionScoreV4(workspace.data(), workspace.size(), call.executor, nullptr);
    const std::int64_t at_end = allocations;
    EXPECT_EQ(status, ACL_SUCCESS);
    EXPECT_EQ(at_end, at_start);
  }
  EXPECT_TRUE(OutputIs(data, 0, 1, 2, 4));
  aclDestroyAclOpExecutor(call.executor);
}

}  // namespace
}  // namespace fia::testing
