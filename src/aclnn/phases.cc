// The operator's two phases in the C interface.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "aclnn/call_arguments.h"
#include "aclnn/error_text.h"
#include "aclnn/executor.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "fia/attention.h"

namespace fia::aclnn {
namespace {

Check CheckLevel() noexcept {
  const char* level = std::getenv("FIA_CHECK");
  return level != nullptr && std::strcmp(level, "relaxed") == 0 ? Check::kRelaxed : Check::kStrict;
}

// Gives the planned call a handle. The record is in the table before it takes the tensors' addresses: a
// tensor that is pointed elsewhere meanwhile is seen by the one or found by the other.
aclOpExecutor* Register(Executor executor, std::vector<Binding> bindings) {
  const auto record = std::make_shared<ExecutorRecord>(std::move(executor), std::move(bindings));
  void* handle = TableOf<ExecutorRecord>().Insert(record);
  record->LoadAddresses();
  return static_cast<aclOpExecutor*>(handle);
}

Status PhaseOne(const Handles& handles, const Attributes& attributes, std::uint64_t* workspace_size,
                aclOpExecutor** executor) {
  if (workspace_size == nullptr || executor == nullptr) {
    return Refusal(StatusCode::kNullPointer, workspace_size == nullptr ? "workspaceSize" : "executor", "null",
                   "is null, but is always needed");
  }
  ReadCall call;
  if (Status status = ReadArguments(handles, attributes, &call); !status.ok()) return status;
  call.params.execution.check = CheckLevel();
  std::uint64_t size = 0;
  Executor planned;
  if (Status status = GetWorkspaceSize(call.params, &size, &planned); !status.ok()) return status;
  *executor = Register(std::move(planned), std::move(call.bindings));
  *workspace_size = size;
  return {};
}

std::int32_t RunPhaseOne(const Handles& handles, const Attributes& attributes, std::uint64_t* workspace_size,
                         aclOpExecutor** executor) noexcept {
  if (workspace_size != nullptr) *workspace_size = 0;
  if (executor != nullptr) *executor = nullptr;
  try {
    return Report(PhaseOne(handles, attributes, workspace_size, executor));
  } catch (...) {
    // Short enough to need no memory of its own.
    return Report({StatusCode::kTilingError, "", "memory", "no memory"});
  }
}

Status PhaseTwo(void* workspace, std::uint64_t workspace_size, const aclOpExecutor* executor) {
  const auto record = TableOf<ExecutorRecord>().Find(executor);
  bool last = false;
  if (!record || !record->BeginRun(&last)) {
    const char* what = executor == nullptr ? "is null"
                       : record            ? "is running, or has just run, on another thread"
                                           : "is not live: it has run, was destroyed, or was never made";
    return Refusal(StatusCode::kRuntimeError, "executor", "executor", what);
  }
  if (last) TableOf<ExecutorRecord>().Remove(executor);
  Status status = Execute(workspace, workspace_size, record->executor());
  record->EndRun();
  return status;
}

}  // namespace
}  // namespace fia::aclnn

extern "C" {

aclnnStatus aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
    const aclTensor* query, const aclTensorList* key, const aclTensorList* value, const aclTensor* pseShift,
    const aclTensor* attenMask, const aclIntArray* actualSeqLengths, const aclIntArray* actualSeqLengthsKv,
    const aclTensor* deqScale1, const aclTensor* quantScale1, const aclTensor* deqScale2,
    const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor* antiquantScale,
    const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, const aclTensor* keyAntiquantScale, const aclTensor* keyAntiquantOffset,
    const aclTensor* valueAntiquantScale, const aclTensor* valueAntiquantOffset,
    const aclTensor* keySharedPrefix, const aclTensor* valueSharedPrefix,
    const aclIntArray* actualSharedPrefixLen, const aclTensor* queryRope, const aclTensor* keyRope,
    const aclTensor* keyRopeAntiquantScale, const aclTensor* dequantScaleQuery,
    const aclTensor* learnableSink, int64_t numHeads, double scaleValue, int64_t preTokens,
    int64_t nextTokens, char* inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
    int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode,
    int64_t valueAntiquantMode, int64_t queryQuantMode, const aclTensor* attentionOut,
    const aclTensor* softmaxLse, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const fia::aclnn::Handles handles = {{query,
                                        key,
                                        value,
                                        pseShift,
                                        attenMask,
                                        actualSeqLengths,
                                        actualSeqLengthsKv,
                                        deqScale1,
                                        quantScale1,
                                        deqScale2,
                                        quantScale2,
                                        quantOffset2,
                                        antiquantScale,
                                        antiquantOffset,
                                        blockTable,
                                        queryPaddingSize,
                                        kvPaddingSize,
                                        keyAntiquantScale,
                                        keyAntiquantOffset,
                                        valueAntiquantScale,
                                        valueAntiquantOffset,
                                        keySharedPrefix,
                                        valueSharedPrefix,
                                        actualSharedPrefixLen,
                                        queryRope,
                                        keyRope,
                                        keyRopeAntiquantScale,
                                        dequantScaleQuery,
                                        learnableSink,
                                        attentionOut,
                                        softmaxLse}};
  const fia::aclnn::Attributes attributes = {.num_heads = numHeads,
                                             .scale = scaleValue,
                                             .pre_tokens = preTokens,
                                             .next_tokens = nextTokens,
                                             .layout = inputLayout,
                                             .num_kv_heads = numKeyValueHeads,
                                             .sparse_mode = sparseMode,
                                             .inner_precise = innerPrecise,
                                             .block_size = blockSize,
                                             .antiquant_mode = antiquantMode,
                                             .softmax_lse = softmaxLseFlag,
                                             .key_antiquant_mode = keyAntiquantMode,
                                             .value_antiquant_mode = valueAntiquantMode,
                                             .query_quant_mode = queryQuantMode};
  return fia::aclnn::RunPhaseOne(handles, attributes, workspaceSize, executor);
}

aclnnStatus aclnnFusedInferAttentionScoreV4(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream /*stream*/) {
  try {
    return fia::aclnn::Report(fia::aclnn::PhaseTwo(workspace, workspaceSize, executor));
  } catch (...) {
    return fia::aclnn::Report({fia::StatusCode::kRuntimeError, "", "memory", "no memory"});
  }
}

aclnnStatus aclnnInit(const char* /*configPath*/) { return ACLNN_SUCCESS; }

aclnnStatus aclnnFinalize(void) { return ACLNN_SUCCESS; }

}  // extern "C"
