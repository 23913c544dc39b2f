// What an aclTensor stands for.
#ifndef FIA_ACLNN_TENSOR_H_
#define FIA_ACLNN_TENSOR_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "aclnn/handle_table.h"
#include "fia/tensor.h"

namespace fia::aclnn {

struct Tensor {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // as many as dims
  DataType dtype = DataType::kUndefined;
  Format format = Format::kNd;
  std::int64_t offset = 0;  // elements from the data pointer to the element whose indices are all zero
  std::atomic<void*> data{nullptr};
};

// The offset in bytes. False when it is negative, does not fit, or begins inside a byte.
bool ByteOffset(const Tensor& tensor, std::int64_t* bytes) noexcept;

// `data` moved on by an offset; null stays null.
inline void* Advance(void* data, std::int64_t bytes) noexcept {
  if (data == nullptr) return nullptr;
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(bytes));
}

// The native view of `tensor`. Dims beyond the eighth are dropped, the rank tells of them.
TensorView ViewOf(const Tensor& tensor, std::int64_t byte_offset) noexcept;

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_TENSOR_H_
