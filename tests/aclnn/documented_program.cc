// A program in the form that the operator's users write, in C++11 and with the operator's headers alone. It
// runs unchanged on the CPU: decode of one token with a mask and lengths, then prefill with a repeatable
// executor.
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn/opdev/fp16_t.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "securec.h"

#define CHECK_RET(condition, return_expression) \
  do {                                          \
    if (!(condition)) {                         \
      return_expression;                        \
    }                                           \
  } while (0)

namespace {

int64_t GetShapeSize(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (int64_t dim : shape) size *= dim;
  return size;
}

int Init(int32_t device_id, aclrtStream* stream) {
  auto ret = aclInit(nullptr);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "aclInit failed: " << ret << '\n'; return ret);
  ret = aclrtSetDevice(device_id);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "aclrtSetDevice failed: " << ret << '\n'; return ret);
  ret = aclrtCreateStream(stream);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "aclrtCreateStream failed: " << ret << '\n'; return ret);
  return 0;
}

template <typename T>
int CreateAclTensor(const std::vector<T>& host_data, const std::vector<int64_t>& shape, void** device_addr,
                    aclDataType data_type, aclTensor** tensor) {
  const auto size = static_cast<size_t>(GetShapeSize(shape)) * sizeof(T);
  auto ret = aclrtMalloc(device_addr, size, ACL_MEM_MALLOC_HUGE_FIRST);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "aclrtMalloc failed: " << ret << '\n'; return ret);
  ret = aclrtMemcpy(*device_addr, size, host_data.data(), size, ACL_MEMCPY_HOST_TO_DEVICE);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "aclrtMemcpy failed: " << ret << '\n'; return ret);
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; i--) {
    const auto axis = static_cast<size_t>(i);
    strides[axis] = shape[axis + 1] * strides[axis + 1];
  }
  *tensor = aclCreateTensor(shape.data(), shape.size(), data_type, strides.data(), 0,
                            aclFormat::ACL_FORMAT_ND, shape.data(), shape.size(), *device_addr);
  return *tensor == nullptr ? 1 : 0;
}

// One call's tensors, two sequences of eight keys.
struct Problem {
  int64_t queries;
  void *query_addr = nullptr, *key_addr = nullptr, *value_addr = nullptr, *mask_addr = nullptr,
       *out_addr = nullptr;
  aclTensor *query = nullptr, *key = nullptr, *value = nullptr, *mask = nullptr, *out = nullptr;
  aclTensorList *keys = nullptr, *values = nullptr;
  aclIntArray* kv_lengths = nullptr;
  uint64_t workspace_size = 0;
  void* workspace_addr = nullptr;
  aclOpExecutor* executor = nullptr;

  static const int64_t kBatch = 2, kHeads = 2, kKeys = 8, kDim = 64;
  explicit Problem(int64_t query_count) : queries(query_count) {}

  int Create();
  int PlanCall(int64_t sparse_mode);
  int CheckOutput(float expected);
  int Destroy();
};

int Problem::Create() {
  const std::vector<int64_t> query_shape = {kBatch, kHeads, queries, kDim},
                             kv_shape = {kBatch, kHeads, kKeys, kDim};
  const std::vector<int64_t> mask_shape =
      queries == 1 ? std::vector<int64_t>{kBatch, 1, 1, kKeys} : std::vector<int64_t>{2048, 2048};
  const std::vector<op::fp16_t> query_data(static_cast<size_t>(GetShapeSize(query_shape)), op::fp16_t(0.5f));
  const std::vector<op::fp16_t> key_data(static_cast<size_t>(GetShapeSize(kv_shape)), 0.25f);
  // Every key weighs the same; value j is j everywhere, so the output is the mean of the attended j.
  std::vector<op::fp16_t> value_data(key_data.size());
  for (size_t i = 0; i < value_data.size(); i++) value_data[i] = static_cast<int>(i) / kDim % kKeys;
  std::vector<int8_t> mask_data(static_cast<size_t>(GetShapeSize(mask_shape)), 0);
  if (queries == 1) mask_data[0] = mask_data[kKeys] = 1;  // key 0 is masked out
  const std::vector<op::fp16_t> out_data(query_data.size(), -1);
  int ret = CreateAclTensor(query_data, query_shape, &query_addr, aclDataType::ACL_FLOAT16, &query);
  CHECK_RET(ret == 0, return ret);
  ret = CreateAclTensor(key_data, kv_shape, &key_addr, aclDataType::ACL_FLOAT16, &key);
  CHECK_RET(ret == 0, return ret);
  ret = CreateAclTensor(value_data, kv_shape, &value_addr, aclDataType::ACL_FLOAT16, &value);
  CHECK_RET(ret == 0, return ret);
  ret = CreateAclTensor(mask_data, mask_shape, &mask_addr, aclDataType::ACL_INT8, &mask);
  CHECK_RET(ret == 0, return ret);
  ret = CreateAclTensor(out_data, query_shape, &out_addr, aclDataType::ACL_FLOAT16, &out);
  CHECK_RET(ret == 0, return ret);
  aclTensor* key_members[] = {key};
  keys = aclCreateTensorList(key_members, 1);
  aclTensor* value_members[] = {value};
  values = aclCreateTensorList(value_members, 1);
  const std::vector<int64_t> lengths = {5, 5};
  kv_lengths = aclCreateIntArray(lengths.data(), lengths.size());
  return 0;
}

int Problem::PlanCall(int64_t sparse_mode) {
  const std::string layout = "BNSD";
  char input_layout[16];
  CHECK_RET(strcpy_s(input_layout, sizeof input_layout, layout.c_str()) == EOK, return 1);
  const aclnnStatus ret = aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
      query, keys, values, nullptr, mask, nullptr, kv_lengths, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kHeads, 0.125, 2147483647, 2147483647,
      input_layout, kHeads, sparse_mode, 0, 0, 0, false, 0, 0, 0, out, nullptr, &workspace_size, &executor);
  CHECK_RET(ret == ACL_SUCCESS,
            std::cout << "phase one failed: " << ret << ' ' << aclGetRecentErrMsg() << '\n';
            return ret);
  if (workspace_size > 0) {
    const auto allocated = aclrtMalloc(&workspace_addr, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST);
    CHECK_RET(allocated == ACL_SUCCESS, return allocated);
  }
  return 0;
}

// The last query position of every head attends the same keys.
int Problem::CheckOutput(float expected) {
  const size_t count = static_cast<size_t>(kBatch * kHeads * queries * kDim);
  std::vector<op::fp16_t> result(count);
  const auto ret = aclrtMemcpy(result.data(), count * sizeof(result[0]), out_addr, count * sizeof(result[0]),
                               ACL_MEMCPY_DEVICE_TO_HOST);
  CHECK_RET(ret == ACL_SUCCESS, return ret);
  int wrong = 0;
  for (int64_t head = 0; head < kBatch * kHeads; head++) {
    for (int64_t d = 0; d < kDim; d++) {
      const float got = result[static_cast<size_t>((head * queries + queries - 1) * kDim + d)];
      if (!(got > expected - 2e-3f && got < expected + 2e-3f)) wrong++;
    }
  }
  if (wrong > 0) std::cout << wrong << " elements are not " << expected << '\n';
  return wrong;
}

int Problem::Destroy() {
  int failures = 0;
  for (const aclTensor* tensor : {query, key, value, mask, out}) failures += aclDestroyTensor(tensor) != 0;
  failures += aclDestroyTensorList(keys) != 0;
  failures += aclDestroyTensorList(values) != 0;
  failures += aclDestroyIntArray(kv_lengths) != 0;
  for (void* addr : {query_addr, key_addr, value_addr, mask_addr, out_addr}) failures += aclrtFree(addr) != 0;
  if (workspace_size > 0) failures += aclrtFree(workspace_addr) != 0;
  return failures;
}

int RunDecode(aclrtStream stream) {
  Problem problem(1);
  int ret = problem.Create();
  CHECK_RET(ret == 0, return ret);
  ret = problem.PlanCall(0);
  CHECK_RET(ret == 0, return ret);
  ret = aclnnFusedInferAttentionScoreV4(problem.workspace_addr, problem.workspace_size, problem.executor,
                                        stream);
  CHECK_RET(ret == ACL_SUCCESS, std::cout << "phase two failed: " << ret << '\n'; return ret);
  ret = aclrtSynchronizeStream(stream);
  CHECK_RET(ret == ACL_SUCCESS, return ret);
  ret = problem.CheckOutput(2.5f);  // keys 1 to 4
  return ret + problem.Destroy();
}

int RunPrefill(aclrtStream stream) {
  Problem problem(4);
  int ret = problem.Create();
  CHECK_RET(ret == 0, return ret);
  ret = problem.PlanCall(3);
  CHECK_RET(ret == 0, return ret);
  ret = aclSetAclOpExecutorRepeatable(problem.executor);
  CHECK_RET(ret == ACL_SUCCESS, return ret);
  aclrtEvent start = nullptr, stop = nullptr;
  CHECK_RET(aclrtCreateEvent(&start) == ACL_SUCCESS && aclrtCreateEvent(&stop) == ACL_SUCCESS, return 1);
  CHECK_RET(aclrtRecordEvent(start, stream) == ACL_SUCCESS, return 1);
  for (int i = 0; i < 3; i++) {
    aclSetInputTensorAddr(problem.executor, 0, problem.query, problem.query_addr);
    aclSetOutputTensorAddr(problem.executor, 0, problem.out, problem.out_addr);
    ret = aclnnFusedInferAttentionScoreV4(problem.workspace_addr, problem.workspace_size, problem.executor,
                                          stream);
    CHECK_RET(ret == ACL_SUCCESS, std::cout << "phase two failed: " << ret << '\n'; return ret);
  }
  CHECK_RET(aclrtRecordEvent(stop, stream) == ACL_SUCCESS, return 1);
  CHECK_RET(aclrtSynchronizeEvent(stop) == ACL_SUCCESS, return 1);
  float ms = -1;
  CHECK_RET(aclrtEventElapsedTime(&ms, start, stop) == ACL_SUCCESS && ms >= 0, return 1);
  CHECK_RET(aclrtDestroyEvent(start) == ACL_SUCCESS && aclrtDestroyEvent(stop) == ACL_SUCCESS, return 1);
  ret = problem.CheckOutput(2.0f);  // the last row attends keys 0 to 4
  ret += aclDestroyAclOpExecutor(problem.executor) != ACL_SUCCESS;
  return ret + problem.Destroy();
}

}  // namespace

// The program's main: 0 when all went well.
int RunDocumentedProgram() {
  const int32_t device_id = 0;
  aclrtStream stream = nullptr;
  int ret = Init(device_id, &stream);
  CHECK_RET(ret == 0, return ret);
  ret = RunDecode(stream) + RunPrefill(stream);
  CHECK_RET(aclrtDestroyStream(stream) == ACL_SUCCESS, return 1);
  CHECK_RET(aclrtResetDevice(device_id) == ACL_SUCCESS, return 1);
  CHECK_RET(aclFinalize() == ACL_SUCCESS, return 1);
  return ret;
}
