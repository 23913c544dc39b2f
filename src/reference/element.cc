#include "reference/element.h"

#include <cstring>

#include "fia/half.h"

namespace fia::reference {
namespace {

template <typename T>
double Load(const void* data, std::int64_t position) noexcept {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(data) + position * std::int64_t{sizeof(T)},
              sizeof value);
  return static_cast<double>(value);
}

double LoadHalf(const void* data, std::int64_t position) noexcept {
  std::uint16_t bits;
  std::memcpy(&bits, static_cast<const unsigned char*>(data) + position * 2, sizeof bits);
  return HalfToFloat(bits);
}

double LoadBfloat16(const void* data, std::int64_t position) noexcept {
  std::uint16_t bits;
  std::memcpy(&bits, static_cast<const unsigned char*>(data) + position * 2, sizeof bits);
  return Bfloat16ToFloat(bits);
}

double LoadInt4(const void* data, std::int64_t position) noexcept {
  const unsigned pair = static_cast<const unsigned char*>(data)[position / 2];
  const int nibble = static_cast<int>(position % 2 == 0 ? pair & 15u : pair >> 4);
  return nibble < 8 ? nibble : nibble - 16;
}

// How elements of one type are read: one, or `count` of them `stride` apart.
struct Loader {
  double (*one)(const void* data, std::int64_t position) noexcept;
  void (*many)(const void* data, std::int64_t position, std::int64_t stride, std::int64_t count,
               double* to) noexcept;
};

template <double (*kLoad)(const void*, std::int64_t) noexcept>
void LoadMany(const void* data, std::int64_t position, std::int64_t stride, std::int64_t count,
              double* to) noexcept {
  for (std::int64_t d = 0; d < count; ++d) to[d] = kLoad(data, position + d * stride);
}

template <double (*kLoad)(const void*, std::int64_t) noexcept>
constexpr Loader kLoader = {kLoad, LoadMany<kLoad>};

const Loader& LoaderOf(DataType dtype) noexcept {
  switch (dtype) {
    case DataType::kFloat16:
      return kLoader<LoadHalf>;
    case DataType::kBfloat16:
      return kLoader<LoadBfloat16>;
    case DataType::kFloat32:
      return kLoader<Load<float>>;
    case DataType::kInt8:
      return kLoader<Load<std::int8_t>>;
    case DataType::kInt4:
      return kLoader<LoadInt4>;
    case DataType::kInt32:
      return kLoader<Load<std::int32_t>>;
    default:
      return kLoader<Load<std::uint8_t>>;  // masks: bool, uint8
  }
}

}  // namespace

bool HasElements(const TensorView& view) noexcept { return view.present() && CountElements(view) != 0; }

std::int64_t CountElements(const TensorView& view, int first_axis) noexcept {
  std::int64_t count = 1;
  for (int axis = first_axis; axis < view.rank && axis < kMaxRank; ++axis) {
    if (view.dims[axis] == 0) return 0;
    if (__builtin_mul_overflow(count, view.dims[axis], &count)) count = INT64_MAX;
  }
  return count;
}

double ReadElement(const TensorView& view, std::int64_t position) noexcept {
  return LoaderOf(view.dtype).one(view.data, position);
}

double ReadNumbered(const TensorView& view, int first_axis, std::int64_t number,
                    std::int64_t position) noexcept {
  for (int axis = view.rank - 1; axis >= first_axis; --axis) {
    position += number % view.dims[axis] * view.strides[axis];
    number /= view.dims[axis];
  }
  return ReadElement(view, position);
}

std::int64_t ReadInt64(const TensorView& view) noexcept {
  std::int64_t value;
  std::memcpy(&value, view.data, sizeof value);
  return value;
}

double ReadDeqScale(const TensorView& view) noexcept {
  if (view.dtype != DataType::kUint64) return ReadElement(view, 0);
  std::uint64_t bits;
  std::memcpy(&bits, view.data, sizeof bits);
  const std::uint32_t low = static_cast<std::uint32_t>(bits);
  float scale;
  std::memcpy(&scale, &low, sizeof scale);
  return scale;
}

void ReadRow(const HeadRow& row, std::int64_t count, double* to) noexcept {
  const TensorView& view = *row.view;
  const std::int64_t stride = view.strides[view.rank - 1];
  if (view.rank == 5) {
    const std::int64_t chunk = view.dims[4];
    for (std::int64_t d = 0; d < count; ++d)
      to[d] = ReadElement(view, row.position + d / chunk * view.strides[2] + d % chunk * stride);
    return;
  }
  if (view.dtype == DataType::kInt32) {
    const unsigned char* bytes = static_cast<const unsigned char*>(view.data);
    for (std::int64_t d = 0; d < count; ++d) {
      const std::int64_t element = row.first + d;
      std::uint32_t eight;
      std::memcpy(&eight, bytes + (row.position + element / 8 * stride) * 4, sizeof eight);
      const int nibble = static_cast<int>(eight >> (element % 8 * 4) & 15u);
      to[d] = nibble < 8 ? nibble : nibble - 16;
    }
    return;
  }
  LoaderOf(view.dtype).many(view.data, row.position + row.first * stride, stride, count, to);
}

}  // namespace fia::reference
