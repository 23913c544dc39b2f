// A program as one writes it for the device, in C++11, with nothing but the operator's interface.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"

namespace {

const int64_t kHeads = 8, kQueries = 64, kKeys = 2, kDim = 64;

// Ends the program when a call of the interface fails.
#define CHECK_OK(call)                                                      \
  do {                                                                      \
    const int code = static_cast<int>(call);                                \
    if (code != 0) {                                                        \
      const char* text = aclGetRecentErrMsg();                              \
      std::printf("%s: %d %s\n", #call, code, text == nullptr ? "" : text); \
      return 1;                                                             \
    }                                                                       \
  } while (false)

// A (1, heads, positions, dim) tensor of `type` in device memory.
struct DeviceTensor {
  void* data;
  aclTensor* tensor;

  int Create(aclDataType type, size_t element_bytes, int64_t positions, int64_t dim) {
    const int64_t dims[] = {1, kHeads, positions, dim};
    const int64_t strides[] = {kHeads * positions * dim, positions * dim, dim, 1};
    const size_t bytes = static_cast<size_t>(strides[0]) * element_bytes;
    CHECK_OK(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(data, bytes, 0, bytes));
    tensor = aclCreateTensor(dims, 4, type, strides, 0, ACL_FORMAT_ND, dims, 4, data);
    return tensor == nullptr ? 1 : 0;
  }

  int CopyIn(const std::vector<aclFloat16>& host) {
    const size_t bytes = host.size() * sizeof(aclFloat16);
    CHECK_OK(aclrtMemcpy(data, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return 0;
  }
};

// Weights 3/4 and 1/4 on values 1 and 3.
int Run() {
  std::vector<aclFloat16> query(kHeads * kQueries * kDim, aclFloatToFloat16(0));
  std::vector<aclFloat16> key(kHeads * kKeys * kDim, aclFloatToFloat16(0)), value(kHeads * kKeys * kDim);
  for (int64_t row = 0; row < kHeads * kQueries; ++row) query[row * kDim] = aclFloatToFloat16(1);
  for (int64_t head = 0; head < kHeads; ++head) {
    key[head * kKeys * kDim] = aclFloatToFloat16(std::log(3.0f));
    for (int64_t d = 0; d < kDim; ++d) {
      value[head * kKeys * kDim + d] = aclFloatToFloat16(1);
      value[(head * kKeys + 1) * kDim + d] = aclFloatToFloat16(3);
    }
  }

  aclrtStream stream;
  CHECK_OK(aclInit(nullptr));
  CHECK_OK(aclrtSetDevice(0));
  CHECK_OK(aclrtCreateStream(&stream));
  DeviceTensor q, k, v, out, lse;
  if (q.Create(ACL_FLOAT16, 2, kQueries, kDim) || k.Create(ACL_FLOAT16, 2, kKeys, kDim) ||
      v.Create(ACL_FLOAT16, 2, kKeys, kDim) || out.Create(ACL_FLOAT16, 2, kQueries, kDim) ||
      lse.Create(ACL_FLOAT, 4, kQueries, 1) || q.CopyIn(query) || k.CopyIn(key) || v.CopyIn(value)) {
    return 1;
  }
  aclTensorList* keys = aclCreateTensorList(&k.tensor, 1);
  aclTensorList* values = aclCreateTensorList(&v.tensor, 1);

  char layout[] = "BNSD";
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_OK(aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
      q.tensor, keys, values, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kHeads, 1.0, 2147483647, 2147483647, layout,
      kHeads, 0, 0, 0, 0, true, 0, 0, 0, out.tensor, lse.tensor, &workspace_size, &executor));
  void* workspace = nullptr;
  if (workspace_size > 0) CHECK_OK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_OK(aclnnFusedInferAttentionScoreV4(workspace, workspace_size, executor, stream));
  CHECK_OK(aclrtSynchronizeStream(stream));

  std::vector<aclFloat16> result(query.size());
  const size_t result_bytes = result.size() * sizeof(aclFloat16);
  CHECK_OK(aclrtMemcpy(result.data(), result_bytes, out.data, result_bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  int wrong = 0;
  for (aclFloat16 element : result) wrong += !(std::fabs(aclFloat16ToFloat(element) - 1.5f) < 2e-3f);
  std::printf("device program: %d wrong elements\n", wrong);

  aclDestroyTensorList(keys);
  aclDestroyTensorList(values);
  CHECK_OK(aclDestroyTensor(q.tensor));
  CHECK_OK(aclDestroyTensor(out.tensor));
  CHECK_OK(aclDestroyTensor(lse.tensor));
  for (void* memory : {q.data, k.data, v.data, out.data, lse.data, workspace}) {
    if (memory != nullptr) CHECK_OK(aclrtFree(memory));
  }
  CHECK_OK(aclrtDestroyStream(stream));
  CHECK_OK(aclrtResetDevice(0));
  CHECK_OK(aclFinalize());
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main() { return Run(); }
