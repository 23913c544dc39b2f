// Fused attention of float or quantised queries over a (paged, quantised, prefixed) key-value cache, in two
// phases. What the arguments mean: README. C99 and C++11.
//
// Phase one checks the arguments and says how many bytes of workspace phase two needs. It reads no tensor
// data; tensors and arrays may be destroyed after it. On failure *workspaceSize is 0 and *executor null.
// Phase two computes, synchronously; it frees the executor, whatever the result, unless
// aclSetAclOpExecutorRepeatable was called. `workspace` may have any alignment; null is fine when 0 bytes
// were asked for. `stream` may be null. aclGetRecentErrMsg says what was wrong. FIA_CHECK=relaxed in the
// environment lifts the accelerator's own limits.
//
// Both return 0, or 161001 (a required argument is null or destroyed), 161002 (a dtype or format that no call
// accepts), 561002 (another rule is broken), 361001 (phase two: executor, workspace, address or block id).
#ifndef FIA_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V4_H_
#define FIA_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V4_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
    const aclTensor* query, const aclTensorList* key, const aclTensorList* value,
    const aclTensor* pseShiftOptional, const aclTensor* attenMaskOptional,
    const aclIntArray* actualSeqLengthsOptional, const aclIntArray* actualSeqLengthsKvOptional,
    const aclTensor* deqScale1Optional, const aclTensor* quantScale1Optional,
    const aclTensor* deqScale2Optional, const aclTensor* quantScale2Optional,
    const aclTensor* quantOffset2Optional, const aclTensor* antiquantScaleOptional,
    const aclTensor* antiquantOffsetOptional, const aclTensor* blockTableOptional,
    const aclTensor* queryPaddingSizeOptional, const aclTensor* kvPaddingSizeOptional,
    const aclTensor* keyAntiquantScaleOptional, const aclTensor* keyAntiquantOffsetOptional,
    const aclTensor* valueAntiquantScaleOptional, const aclTensor* valueAntiquantOffsetOptional,
    const aclTensor* keySharedPrefixOptional, const aclTensor* valueSharedPrefixOptional,
    const aclIntArray* actualSharedPrefixLenOptional, const aclTensor* queryRopeOptional,
    const aclTensor* keyRopeOptional, const aclTensor* keyRopeAntiquantScaleOptional,
    const aclTensor* dequantScaleQueryOptional, const aclTensor* learnableSinkOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char* inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    const aclTensor* attentionOut, const aclTensor* softmaxLse, uint64_t* workspaceSize,
    aclOpExecutor** executor);

ACL_FUNC_VISIBILITY aclnnStatus aclnnFusedInferAttentionScoreV4(void* workspace, uint64_t workspaceSize,
                                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // FIA_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V4_H_
