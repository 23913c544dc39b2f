/* The interface from C: every header but those of number classes, one call through both phases. */
#include <stddef.h>

#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_fused_infer_attention_score.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v3.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "securec.h"

enum { kDim = 64, kKeys = 3 };

/* 0 when the output of equal scores is the mean of the values, and all went well. */
int RunCProgram(void) {
  aclFloat16 query[kDim], keys[kKeys * kDim], values[kKeys * kDim], out[kDim];
  const int64_t query_shape[4] = {1, 1, 1, kDim}, kv_shape[4] = {1, 1, kKeys, kDim};
  char layout[8];
  uint64_t workspace_size = 0;
  void* workspace = NULL;
  aclOpExecutor* executor = NULL;
  int wrong = 0, i;

  for (i = 0; i < kDim; ++i) query[i] = aclFloatToFloat16(1.0f);
  for (i = 0; i < kKeys * kDim; ++i) {
    keys[i] = aclFloatToFloat16(0.5f);
    values[i] = aclFloatToFloat16((float)(i / kDim));
  }
  wrong += snprintf_s(layout, sizeof layout, sizeof layout - 1, "%s", "BNSD") != 4;
  {
    aclTensor* query_tensor =
        aclCreateTensor(query_shape, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, query_shape, 4, query);
    aclTensor* out_tensor =
        aclCreateTensor(query_shape, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, query_shape, 4, out);
    const aclTensor* key_tensor =
        aclCreateTensor(kv_shape, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, kv_shape, 4, keys);
    const aclTensor* value_tensor =
        aclCreateTensor(kv_shape, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, kv_shape, 4, values);
    aclTensorList* key_list = aclCreateTensorList(&key_tensor, 1);
    aclTensorList* value_list = aclCreateTensorList(&value_tensor, 1);
    wrong +=
        aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
            query_tensor, key_list, value_list, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1.0, 0, 0,
            layout, 1, 0, 1, 0, 0, false, 0, 0, out_tensor, NULL, &workspace_size, &executor) != ACL_SUCCESS;
    if (workspace_size > 0) {
      wrong += aclrtMalloc(&workspace, (size_t)workspace_size, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS;
    }
    wrong += aclnnFusedInferAttentionScoreV3(workspace, workspace_size, executor, NULL) != ACLNN_SUCCESS;
    wrong += aclDestroyTensor(query_tensor) + aclDestroyTensor(out_tensor);
    wrong += aclDestroyTensorList(key_list) + aclDestroyTensorList(value_list);
  }
  if (workspace != NULL) wrong += aclrtFree(workspace);
  for (i = 0; i < kDim; ++i) {
    const float got = aclFloat16ToFloat(out[i]);
    wrong += !(got > 0.999f && got < 1.001f);
  }
  return wrong;
}
