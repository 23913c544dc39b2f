// Memory of exactly the bytes a tensor spans, on the heap or against a page that may not be touched, and the
// strided tensors that lie in it.
#ifndef FIA_TESTS_SUPPORT_CALL_MEMORY_H_
#define FIA_TESTS_SUPPORT_CALL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fia/tensor.h"
#include "support/call_spec.h"

namespace fia::testing {

// Owns `size` bytes, all `fill`. With a guard the byte after the last (kAfter) or before the first (kBefore)
// lies in a page without access rights.
class Memory {
 public:
  Memory() = default;
  Memory(std::size_t size, Guard guard, std::uint8_t fill);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapping_ = nullptr;  // null: data_ is from new[]
  std::size_t mapped_ = 0;
};

// Where the element (batch or block, token, head, dim) of a tensor lies. Strides in elements, int4 in
// nibbles.
struct Rows {
  std::uint8_t* data = nullptr;
  DataType dtype = DataType::kUndefined;  // of the elements: int4 also when packed in int32
  std::int64_t batch = 0;
  std::int64_t token = 0;
  std::int64_t head = 0;
  std::int64_t dim = 1;
  std::int64_t chunk = std::numeric_limits<std::int64_t>::max();  // elements that are `dim` apart
  std::int64_t chunk_stride = 0;

  std::int64_t Offset(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d) const {
    return b * batch + t * token + n * head + d / chunk * chunk_stride + d % chunk * dim;
  }
  void Set(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d, double value) const;
  double Get(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d) const;
};

// A view and the memory that it spans exactly.
struct OwnedTensor {
  Memory memory;
  TensorView view;

  bool present() const { return view.present(); }
  // The element at `index`, one number for each axis.
  void Set(const std::vector<std::int64_t>& index, double value);
  double Get(const std::vector<std::int64_t>& index) const;
};

// A tensor of `dims` in that form; `broadcast_axis` (kBroadcast) gets stride 0. dtype int4: dims in elements.
OwnedTensor MakeTensor(const std::vector<std::int64_t>& dims, DataType dtype, ViewForm form, Guard guard,
                       std::uint8_t fill, int broadcast_axis = -1);

// The bytes of `tensor` that belong to no element are all `fill`.
bool GapsHold(const OwnedTensor& tensor, std::uint8_t fill);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_MEMORY_H_
