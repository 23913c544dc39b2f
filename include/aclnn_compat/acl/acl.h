// The runtime that programs written for the accelerator use, on a CPU. C99 and C++11.
#ifndef FIA_ACL_ACL_H_
#define FIA_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Marks the begin and the end of a program's use. The path of a configuration file is not looked at. A second
// aclInit without aclFinalize between is refused, and so is aclFinalize without aclInit. No other function
// needs them.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  // FIA_ACL_ACL_H_
