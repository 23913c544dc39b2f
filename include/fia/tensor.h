// Views of the caller's tensors: address, element type, dims and strides. They own nothing.
#ifndef FIA_TENSOR_H_
#define FIA_TENSOR_H_

#include <cstdint>
#include <initializer_list>

namespace fia {

// Element types, numbered as in the operator's C interface. Values outside the list are representable
// and refused by name where they are used.
enum class DataType : std::int32_t {
  kUndefined = -1,
  kFloat32 = 0,
  kFloat16 = 1,
  kInt8 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kInt64 = 9,
  kUint64 = 10,
  kFloat64 = 11,
  kBool = 12,
  kBfloat16 = 27,
  kInt4 = 29,  // two elements a byte, lower index in the low nibble, two's complement
};

// Memory formats, numbered as in the operator's C interface. All but kFractalNz mean "dims and strides
// as given"; kFractalNz is accepted for 5-axis paged caches.
enum class Format : std::int32_t {
  kUndefined = -1,
  kNchw = 0,
  kNhwc = 1,
  kNd = 2,
  kHwcn = 16,
  kNdhwc = 27,
  kFractalNz = 29,
  kNcdhw = 30,
  kNc = 35,
  kNcl = 47,
};

constexpr int kMaxRank = 8;

// A strided view. A default-constructed view means "no tensor given".
// `data` is the address of the element whose indices are all zero; the library writes through it only for
// attention_out and softmax_lse. It may be null in phase one. Strides are in elements, row-major order,
// and may be 0 for inputs. A rank above kMaxRank is kept so that it can be refused.
struct TensorView {
  void* data = nullptr;
  DataType dtype = DataType::kUndefined;
  Format format = Format::kNd;
  std::int32_t rank = -1;
  std::int64_t dims[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};

  bool present() const noexcept { return rank >= 0; }

  // A row-major view of `dims` without gaps. Products that overflow leave wrapped strides: phase one refuses
  // them.
  static TensorView Contiguous(const void* data, DataType dtype,
                               std::initializer_list<std::int64_t> dims) noexcept {
    TensorView view;
    view.data = const_cast<void*>(data);
    view.dtype = dtype;
    view.rank = static_cast<std::int32_t>(dims.size());
    if (view.rank > kMaxRank) return view;
    int axis = 0;
    for (std::int64_t dim : dims) view.dims[axis++] = dim;
    view.SetRowMajorStrides();
    return view;
  }

  // Replaces the strides by those of a row-major tensor without gaps.
  void SetRowMajorStrides() noexcept {
    std::uint64_t stride = 1;
    for (int axis = rank < kMaxRank ? rank - 1 : kMaxRank - 1; axis >= 0; --axis) {
      strides[axis] = static_cast<std::int64_t>(stride);
      stride *= static_cast<std::uint64_t>(dims[axis]);
    }
  }
};

}  // namespace fia

#endif  // FIA_TENSOR_H_
