// What every operator's header needs: descriptions of arguments and the codes that both phases return. C99,
// C++11.
#ifndef FIA_ACLNN_ACLNN_BASE_H_
#define FIA_ACLNN_ACLNN_BASE_H_

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

static const int ACLNN_SUCCESS = 0;
static const int ACLNN_ERR_PARAM_NULLPTR = 161001;
static const int ACLNN_ERR_PARAM_INVALID = 161002;
static const int ACLNN_ERR_RUNTIME_ERROR = 361001;
static const int ACLNN_ERR_INNER_TILING_ERROR = 561002;

// Nothing has to be prepared: both always succeed.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // FIA_ACLNN_ACLNN_BASE_H_
