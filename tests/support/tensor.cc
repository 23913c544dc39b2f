#include "support/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "fia/half.h"

namespace fia::testing {
namespace {

constexpr std::size_t kGuardBytes = 128;  // before and after the elements

unsigned char Pattern(std::size_t index) { return static_cast<unsigned char>(0xa5u ^ (index * 29u)); }

template <typename T>
double LoadAs(const unsigned char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return static_cast<double>(value);
}

template <typename T>
std::uint64_t IntegerBits(double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  const double rounded = std::nearbyint(value);
  if (!(rounded > low)) return static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  if (rounded >= high) return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return static_cast<std::uint64_t>(static_cast<T>(rounded));
}

template <typename Float, typename Bits>
std::uint64_t FloatBits(Float value) {
  Bits bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint64_t EncodeBits(DataType dtype, double value) {
  switch (dtype) {
    case DataType::kFloat16:
      return FloatToHalf(static_cast<float>(value));
    case DataType::kBfloat16:
      return FloatToBfloat16(static_cast<float>(value));
    case DataType::kFloat32:
      return FloatBits<float, std::uint32_t>(static_cast<float>(value));
    case DataType::kFloat64:
      return FloatBits<double, std::uint64_t>(value);
    case DataType::kInt8:
      return IntegerBits<std::int8_t>(value);
    case DataType::kInt16:
      return IntegerBits<std::int16_t>(value);
    case DataType::kInt32:
      return IntegerBits<std::int32_t>(value);
    case DataType::kInt64:
      return IntegerBits<std::int64_t>(value);
    case DataType::kUint8:
      return IntegerBits<std::uint8_t>(value);
    case DataType::kUint16:
      return IntegerBits<std::uint16_t>(value);
    case DataType::kUint32:
      return IntegerBits<std::uint32_t>(value);
    case DataType::kUint64:
      return IntegerBits<std::uint64_t>(value);
    case DataType::kBool:
      return value != 0.0 ? 1u : 0u;
    case DataType::kInt4:
      return IntegerBits<std::int8_t>(std::clamp(value, -8.0, 7.0)) & 0xfu;
    default:
      throw std::invalid_argument("no such element type");
  }
}

void StoreBits(void* data, DataType dtype, std::int64_t position, std::uint64_t bits) {
  unsigned char* bytes = static_cast<unsigned char*>(data);
  if (dtype == DataType::kInt4) {
    unsigned char& pair = bytes[position >> 1];
    const unsigned nibble = static_cast<unsigned>(bits) & 0xfu;
    pair = static_cast<unsigned char>((position & 1) != 0 ? (pair & 0x0fu) | (nibble << 4)
                                                          : (pair & 0xf0u) | nibble);
    return;
  }
  const int size = ElementBits(dtype) / 8;
  std::memcpy(bytes + position * size, &bits, static_cast<std::size_t>(size));
}

}  // namespace

int ElementBits(DataType dtype) {
  switch (dtype) {
    case DataType::kInt4:
      return 4;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return 8;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16:
      return 16;
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUint32:
      return 32;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
      return 64;
    default:
      throw std::invalid_argument("no such element type");
  }
}

double LoadElement(const void* data, DataType dtype, std::int64_t position) {
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  if (dtype == DataType::kInt4) {
    const int nibble = (position & 1) != 0 ? bytes[position >> 1] >> 4 : bytes[position >> 1] & 15;
    return nibble < 8 ? nibble : nibble - 16;
  }
  const unsigned char* address = bytes + position * (ElementBits(dtype) / 8);
  std::uint16_t half;
  switch (dtype) {
    case DataType::kFloat16:
      std::memcpy(&half, address, sizeof half);
      return HalfToFloat(half);
    case DataType::kBfloat16:
      std::memcpy(&half, address, sizeof half);
      return Bfloat16ToFloat(half);
    case DataType::kFloat32:
      return LoadAs<float>(address);
    case DataType::kFloat64:
      return LoadAs<double>(address);
    case DataType::kInt8:
      return LoadAs<std::int8_t>(address);
    case DataType::kInt16:
      return LoadAs<std::int16_t>(address);
    case DataType::kInt32:
      return LoadAs<std::int32_t>(address);
    case DataType::kInt64:
      return LoadAs<std::int64_t>(address);
    case DataType::kUint16:
      return LoadAs<std::uint16_t>(address);
    case DataType::kUint32:
      return LoadAs<std::uint32_t>(address);
    case DataType::kUint64:
      return LoadAs<std::uint64_t>(address);
    default:
      return LoadAs<std::uint8_t>(address);
  }
}

void StoreElement(void* data, DataType dtype, std::int64_t position, double value) {
  StoreBits(data, dtype, position, EncodeBits(dtype, value));
}

Tensor::Tensor(DataType dtype, std::vector<std::int64_t> dims, const Storage& storage)
    : dtype_(dtype), dims_(std::move(dims)), strides_(dims_.size(), 0) {
  const std::size_t rank = dims_.size();
  std::vector<int> order = storage.order;
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.begin(), order.end(), 0);
  }
  std::int64_t elements = 1;
  for (std::size_t place = rank; place-- > 0;) {
    const std::size_t axis = static_cast<std::size_t>(order[place]);
    if (!storage.broadcast.empty() && storage.broadcast[axis]) continue;
    strides_[axis] = elements;
    elements *= dims_[axis];
    if (!storage.gap.empty()) elements += storage.gap[axis];
    if (dtype == DataType::kInt4) elements += elements & 1;  // rows start at whole bytes
  }
  const int bits = ElementBits(dtype);
  const std::size_t bytes = static_cast<std::size_t>((elements * bits + 7) / 8);
  const std::size_t shift = static_cast<std::size_t>(storage.misalignment * std::max(bits, 8) / 8);
  buffer_.resize(bytes + shift + 2 * kGuardBytes);
  for (std::size_t index = 0; index < buffer_.size(); ++index) buffer_[index] = Pattern(index);
  start_ = kGuardBytes + shift;
  Fill(0.0);
}

TensorView Tensor::view() const {
  TensorView view;
  if (!present()) return view;
  view.data = const_cast<unsigned char*>(buffer_.data()) + start_;
  view.dtype = dtype_;
  view.rank = static_cast<std::int32_t>(dims_.size());
  for (std::size_t axis = 0; axis < dims_.size() && axis < kMaxRank; ++axis) {
    view.dims[axis] = dims_[axis];
    view.strides[axis] = strides_[axis];
  }
  return view;
}

std::int64_t Tensor::size() const {
  return std::accumulate(dims_.begin(), dims_.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Tensor::Number(const std::vector<std::int64_t>& indices) const {
  if (indices.size() != dims_.size()) throw std::invalid_argument("one index for each axis");
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
    if (indices[axis] < 0 || indices[axis] >= dims_[axis])
      throw std::out_of_range("index outside the tensor");
    number = number * dims_[axis] + indices[axis];
  }
  return number;
}

std::int64_t Tensor::Position(std::int64_t index) const {
  std::int64_t position = 0;
  for (std::size_t axis = dims_.size(); axis-- > 0;) {
    position += index % dims_[axis] * strides_[axis];
    index /= dims_[axis];
  }
  return position;
}

double Tensor::Get(std::int64_t index) const {
  return LoadElement(buffer_.data() + start_, dtype_, Position(index));
}

void Tensor::Set(std::int64_t index, double value) {
  StoreElement(buffer_.data() + start_, dtype_, Position(index), value);
}

void Tensor::SetBits(std::int64_t index, std::uint64_t bits) {
  StoreBits(buffer_.data() + start_, dtype_, Position(index), bits);
}

Tensor& Tensor::Fill(double value) {
  for (std::int64_t index = size(); index-- > 0;) Set(index, value);
  return *this;
}

Tensor& Tensor::FillNaN() { return Fill(std::numeric_limits<double>::quiet_NaN()); }

Tensor& Tensor::FillNormal(Rng* rng, double deviation, double mean) {
  for (std::int64_t index = 0; index < size(); ++index) Set(index, mean + deviation * rng->Normal());
  return *this;
}

Tensor& Tensor::FillUniform(Rng* rng, double low, double high) {
  for (std::int64_t index = 0; index < size(); ++index) Set(index, rng->Uniform(low, high));
  return *this;
}

Tensor& Tensor::FillIntegers(Rng* rng, std::int64_t low, std::int64_t high) {
  for (std::int64_t index = 0; index < size(); ++index)
    Set(index, static_cast<double>(rng->Between(low, high)));
  return *this;
}

Tensor& Tensor::FillBits(Rng* rng, double chance) {
  for (std::int64_t index = 0; index < size(); ++index) Set(index, rng->Chance(chance) ? 1.0 : 0.0);
  return *this;
}

Tensor& Tensor::FillFrom(const std::vector<double>& values) {
  if (static_cast<std::int64_t>(values.size()) != size()) throw std::invalid_argument("one value an element");
  for (std::int64_t index = 0; index < size(); ++index) Set(index, values[static_cast<std::size_t>(index)]);
  return *this;
}

Tensor Tensor::Restored(const Storage& storage) const {
  Tensor other(dtype_, dims_, storage);
  for (std::int64_t index = 0; index < size(); ++index) other.Set(index, Get(index));
  return other;
}

bool Tensor::GuardsIntact() const {
  std::vector<bool> owned(buffer_.size(), false);
  const std::int64_t bits = ElementBits(dtype_);
  for (std::int64_t index = 0; index < size(); ++index) {
    const std::int64_t first = Position(index) * bits / 8;
    const std::int64_t last = ((Position(index) + 1) * bits - 1) / 8;
    for (std::int64_t byte = first; byte <= last; ++byte)
      owned[start_ + static_cast<std::size_t>(byte)] = true;
  }
  for (std::size_t index = 0; index < buffer_.size(); ++index) {
    if (!owned[index] && buffer_[index] != Pattern(index)) return false;
  }
  return true;
}

std::vector<unsigned char> Tensor::Bytes() const {
  const std::int64_t bytes = std::max(ElementBits(dtype_) / 8, 1);
  std::vector<unsigned char> result(static_cast<std::size_t>(size() * bytes));
  for (std::int64_t index = 0; index < size(); ++index) {
    unsigned char* to = result.data() + index * bytes;
    if (dtype_ == DataType::kInt4) {
      *to = static_cast<unsigned char>(static_cast<int>(Get(index)) & 15);
    } else {
      std::memcpy(to, buffer_.data() + start_ + Position(index) * bytes, static_cast<std::size_t>(bytes));
    }
  }
  return result;
}

}  // namespace fia::testing
