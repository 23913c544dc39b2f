#include "aclnn/data_type.h"

#include "acl/acl_base.h"
#include "fia/half.h"

namespace fia::aclnn {

std::int64_t BitsOf(DataType dtype) noexcept {
  switch (static_cast<aclDataType>(dtype)) {
    case ACL_UINT1:
      return 1;
    case ACL_INT4:
      return 4;
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 8;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 16;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 32;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 64;
    case ACL_COMPLEX128:
      return 128;
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
      break;
  }
  return 0;
}

}  // namespace fia::aclnn

extern "C" {

size_t aclDataTypeSize(aclDataType dataType) {
  return static_cast<size_t>((fia::aclnn::BitsOf(static_cast<fia::DataType>(dataType)) + 7) / 8);
}

float aclFloat16ToFloat(aclFloat16 value) { return fia::HalfToFloat(value); }

aclFloat16 aclFloatToFloat16(float value) { return fia::FloatToHalf(value); }

}  // extern "C"
