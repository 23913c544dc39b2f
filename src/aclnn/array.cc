#include "aclnn/array.h"

#include <cstring>
#include <exception>

#include "aclnn/aclnn_base.h"
#include "aclnn/tensor.h"

namespace fia::aclnn {
namespace {

// More members or elements than any call has are a mistake, not something to copy.
constexpr std::uint64_t kMaxMembers = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 24;

// A new Object whose vector `values` is a copy of the caller's array; null if that cannot be.
template <typename Object, typename Values, typename Element>
void* CreateFrom(Values Object::*values, const Element* source, std::uint64_t size, std::uint64_t limit) {
  if ((source == nullptr && size > 0) || size > limit) return nullptr;
  try {
    auto object = std::make_shared<Object>();
    ((*object).*values).assign(source, source + size);
    return TableOf<Object>().Insert(std::move(object));
  } catch (const std::exception&) {
    return nullptr;
  }
}

template <typename Object, typename Values>
aclnnStatus SizeOf(Values Object::*values, const void* handle, std::uint64_t* size) {
  const auto object = TableOf<Object>().Find(handle);
  if (!object || size == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  *size = ((*object).*values).size();
  return ACLNN_SUCCESS;
}

template <typename Object>
aclnnStatus Destroy(const void* handle) {
  TableOf<Object>().Remove(handle);
  return ACLNN_SUCCESS;
}

}  // namespace
}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return static_cast<aclTensorList*>(CreateFrom(&TensorList::members, value, size, kMaxMembers));
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return static_cast<aclIntArray*>(CreateFrom(&IntArray::values, value, size, kMaxElements));
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return static_cast<aclFloatArray*>(CreateFrom(&FloatArray::values, value, size, kMaxElements));
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return static_cast<aclBoolArray*>(CreateFrom(&BoolArray::values, value, size, kMaxElements));
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  const size_t size = aclDataTypeSize(dataType);
  if (value == nullptr || size == 0) return nullptr;
  try {
    auto scalar = std::make_shared<Scalar>();
    std::memcpy(scalar->bytes.data(), value, size);
    scalar->dtype = static_cast<fia::DataType>(dataType);
    return static_cast<aclScalar*>(TableOf<Scalar>().Insert(std::move(scalar)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  if (const auto list = TableOf<TensorList>().Remove(array)) {
    for (const void* member : list->members) TableOf<Tensor>().Remove(member);
  }
  return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return Destroy<IntArray>(array); }
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return Destroy<FloatArray>(array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return Destroy<BoolArray>(array); }
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return Destroy<Scalar>(scalar); }

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return SizeOf(&TensorList::members, tensorList, size);
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return SizeOf(&IntArray::values, array, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return SizeOf(&FloatArray::values, array, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return SizeOf(&BoolArray::values, array, size);
}

}  // extern "C"
