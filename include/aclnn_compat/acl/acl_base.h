// Types, codes and helpers that every part of the operator's C interface uses. C99 and C++11.
#ifndef FIA_ACL_ACL_BASE_H_
#define FIA_ACL_ACL_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
// Any int is a value of these enums: what a program passes by mistake is refused by name.
#define FIA_ACL_ENUM(name) enum name : int
extern "C" {
#else
#define FIA_ACL_ENUM(name) enum name
#endif

#ifndef ACL_FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#endif

typedef int aclError;
typedef uint16_t aclFloat16;
typedef void* aclrtContext;
typedef void* aclrtStream;
typedef void* aclrtEvent;

static const int ACL_SUCCESS = 0;
static const int ACL_ERROR_NONE = 0;
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_UNINITIALIZE = 100001;
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;
static const int ACL_ERROR_RT_PARAM_INVALID = 107000;
static const int ACL_ERROR_RT_INVALID_DEVICEID = 107001;
static const int ACL_ERROR_RT_CONTEXT_NULL = 107002;
static const int ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107006;
static const int ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL = 107007;
static const int ACL_ERROR_BAD_ALLOC = 200000;
static const int ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;

typedef FIA_ACL_ENUM(aclDataType){
    ACL_DT_UNDEFINED = -1, ACL_FLOAT = 0,   ACL_FLOAT16 = 1, ACL_INT8 = 2,    ACL_INT32 = 3,
    ACL_UINT8 = 4,         ACL_INT16 = 6,   ACL_UINT16 = 7,  ACL_UINT32 = 8,  ACL_INT64 = 9,
    ACL_UINT64 = 10,       ACL_DOUBLE = 11, ACL_BOOL = 12,   ACL_STRING = 13, ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,   ACL_BF16 = 27,   ACL_INT4 = 29,   ACL_UINT1 = 30,  ACL_COMPLEX32 = 33,
} aclDataType;

typedef FIA_ACL_ENUM(aclFormat){
    ACL_FORMAT_UNDEFINED = -1,  ACL_FORMAT_NCHW = 0,      ACL_FORMAT_NHWC = 1,  ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,     ACL_FORMAT_FRACTAL_Z = 4, ACL_FORMAT_HWCN = 16, ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29, ACL_FORMAT_NCDHW = 30,    ACL_FORMAT_NC = 35,   ACL_FORMAT_NCL = 47,
} aclFormat;

// Bytes of one element; 1 for the types smaller than a byte, 0 for ACL_STRING and unknown types.
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

// IEEE 754 binary16 and back; rounded to nearest even.
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

// Why the calling thread's latest call of an operator's phase failed, in one line; empty after a success,
// never null. Valid until the thread's next call of either phase.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif  // FIA_ACL_ACL_BASE_H_
