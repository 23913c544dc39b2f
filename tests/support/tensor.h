// Owning tensors for tests: a guarded buffer and a view of it, contiguous or strided, of any element type.
#ifndef FIA_TESTS_SUPPORT_TENSOR_H_
#define FIA_TESTS_SUPPORT_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fia/tensor.h"
#include "support/rng.h"

namespace fia::testing {

// How a tensor lies in memory. The default is row-major without gaps.
struct Storage {
  std::vector<int> order;         // axes from outermost to innermost in memory; empty: 0, 1, 2, ...
  std::vector<std::int64_t> gap;  // [rank] unused elements after each run of an axis; empty: none
  std::vector<bool> broadcast;    // [rank] true: stride 0; empty: none
  std::int64_t misalignment = 0;  // elements (int4: pairs) added to a start that is 16-byte aligned
};

class Tensor {
 public:
  Tensor() = default;

  // All elements zero. Every byte of the buffer that belongs to no element holds a pattern (GuardsIntact).
  Tensor(DataType dtype, std::vector<std::int64_t> dims, const Storage& storage = {});

  // A view of the whole tensor; valid while this object lives and is not assigned to.
  TensorView view() const;

  bool present() const { return dtype_ != DataType::kUndefined; }
  DataType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t size() const;  // elements, counting broadcast ones

  // Elements by row-major number (not by place in memory). Values round to the element type, integers
  // saturate.
  double Get(std::int64_t index) const;
  void Set(std::int64_t index, double value);
  void SetBits(std::int64_t index, std::uint64_t bits);  // the element's low bits as they stand

  // The same by one index for each axis.
  double At(const std::vector<std::int64_t>& indices) const { return Get(Number(indices)); }
  void Put(const std::vector<std::int64_t>& indices, double value) { Set(Number(indices), value); }
  std::int64_t Number(const std::vector<std::int64_t>& indices) const;

  Tensor& Fill(double value);
  Tensor& FillNaN();  // floating-point types only
  Tensor& FillNormal(Rng* rng, double deviation = 1.0, double mean = 0.0);
  Tensor& FillUniform(Rng* rng, double low, double high);
  Tensor& FillIntegers(Rng* rng, std::int64_t low, std::int64_t high);  // both included
  Tensor& FillBits(Rng* rng, double chance);                            // 1 with that chance, else 0
  Tensor& FillFrom(const std::vector<double>& values);                  // row-major, as many as size()

  // A tensor of the same dims and values in another storage.
  Tensor Restored(const Storage& storage) const;

  // True while no byte outside the elements has changed.
  bool GuardsIntact() const;

  // The elements' bytes in row-major order (int4: one byte an element).
  std::vector<unsigned char> Bytes() const;

 private:
  std::int64_t Position(std::int64_t index) const;  // element number in the buffer, from element zero

  DataType dtype_ = DataType::kUndefined;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> strides_;
  std::vector<unsigned char> buffer_;
  std::size_t start_ = 0;  // byte of element zero in buffer_
};

// Bits of an element of a known type.
int ElementBits(DataType dtype);

// One element at `data`, `position` elements on, as a double; and back.
double LoadElement(const void* data, DataType dtype, std::int64_t position);
void StoreElement(void* data, DataType dtype, std::int64_t position, double value);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_TENSOR_H_
