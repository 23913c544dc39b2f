#include "aclnn/tensor.h"

#include <algorithm>
#include <new>

#include "aclnn/aclnn_base.h"
#include "aclnn/data_type.h"
#include "aclnn/executor.h"

namespace fia::aclnn {
namespace {

// More dims than an operator accepts can be described, so that its phase one can name them.
constexpr std::uint64_t kMaxDims = 64;

// Row-major strides of `dims`. Products that overflow wrap: phase one refuses the dims.
std::vector<std::int64_t> RowMajorStrides(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size());
  std::uint64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(dims[axis]);
  }
  return strides;
}

std::shared_ptr<Tensor> FindTensor(const aclTensor* tensor) { return TableOf<Tensor>().Find(tensor); }

// Copies `values` to an array that the caller owns.
aclnnStatus HandOut(const std::vector<std::int64_t>& values, std::int64_t** array, std::uint64_t* size) {
  std::int64_t* copy = new (std::nothrow) std::int64_t[std::max<std::size_t>(values.size(), 1)];
  if (copy == nullptr) return ACLNN_ERR_INNER_TILING_ERROR;
  std::copy(values.begin(), values.end(), copy);
  *array = copy;
  *size = values.size();
  return ACLNN_SUCCESS;
}

}  // namespace

bool ByteOffset(const Tensor& tensor, std::int64_t* bytes) noexcept {
  std::int64_t bits = 0;
  if (tensor.offset < 0 || __builtin_mul_overflow(tensor.offset, BitsOf(tensor.dtype), &bits)) return false;
  *bytes = bits / 8;
  return bits % 8 == 0;
}

TensorView ViewOf(const Tensor& tensor, std::int64_t byte_offset) noexcept {
  TensorView view;
  view.data = Advance(tensor.data.load(), byte_offset);
  view.dtype = tensor.dtype;
  view.format = tensor.format;
  view.rank = static_cast<std::int32_t>(tensor.dims.size());
  const std::size_t kept = std::min<std::size_t>(tensor.dims.size(), kMaxRank);
  std::copy_n(tensor.dims.begin(), kept, view.dims);
  std::copy_n(tensor.strides.begin(), kept, view.strides);
  return view;
}

}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* /*storageDims*/, uint64_t /*storageDimsNum*/, void* tensorData) {
  if ((viewDims == nullptr && viewDimsNum > 0) || viewDimsNum > kMaxDims) return nullptr;
  try {
    auto tensor = std::make_shared<Tensor>();
    tensor->dims.assign(viewDims, viewDims + viewDimsNum);
    if (stride != nullptr) {
      tensor->strides.assign(stride, stride + viewDimsNum);
    } else {
      tensor->strides = RowMajorStrides(tensor->dims);
    }
    tensor->dtype = static_cast<fia::DataType>(dataType);
    tensor->format = static_cast<fia::Format>(format);
    tensor->offset = offset;
    tensor->data.store(tensorData);
    return static_cast<aclTensor*>(TableOf<Tensor>().Insert(std::move(tensor)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  TableOf<Tensor>().Remove(tensor);
  return ACLNN_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  const auto found = FindTensor(tensor);
  if (!found || viewDims == nullptr || viewDimsNum == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  return HandOut(found->dims, viewDims, viewDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  const auto found = FindTensor(tensor);
  if (!found || stridesValue == nullptr || stridesNum == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  return HandOut(found->strides, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  const auto found = FindTensor(tensor);
  if (!found || offset == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  *offset = found->offset;
  return ACLNN_SUCCESS;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  const auto found = FindTensor(tensor);
  if (!found || dataType == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  *dataType = static_cast<aclDataType>(found->dtype);
  return ACLNN_SUCCESS;
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  const auto found = FindTensor(tensor);
  if (!found || format == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  *format = static_cast<aclFormat>(found->format);
  return ACLNN_SUCCESS;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  const auto found = FindTensor(tensor);
  if (!found || addr == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  *addr = found->data.load();
  return ACLNN_SUCCESS;
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  const auto found = FindTensor(tensor);
  if (!found) return ACLNN_ERR_RUNTIME_ERROR;
  found->data.store(addr);
  TableOf<ExecutorRecord>().ForEach([&](ExecutorRecord& record) { record.ReloadAddresses(found.get()); });
  return ACLNN_SUCCESS;
}

}  // extern "C"
