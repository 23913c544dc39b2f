#include <cstring>

#include "kernels/simd.h"
#include "kernels/state.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

// Dims that are computed before they are stored.
constexpr std::int64_t kDims = 64;

// out = (acc * factor + addend + channel_offset) * channel_scale in double for dims first .. first + count
// - 1. Adding 0 makes -0 into 0: the sign of a zero may depend on how many zeros were added before.
FIA_INLINE void FinishDims(const StoreArgs& args, std::int64_t row, std::int64_t first, std::int64_t count,
                           double* out) {
  const float* acc = args.acc + row * args.acc_stride + first;
  const double factor = args.factor[row];
  for (std::int64_t dim = 0; dim < count; ++dim) out[dim] = acc[dim] * factor;
  if (args.addend != nullptr) {
    const double addend = args.addend[row];
    for (std::int64_t dim = 0; dim < count; ++dim) out[dim] += addend;
  }
  if (args.channel_offset != nullptr) {
    for (std::int64_t dim = 0; dim < count; ++dim) out[dim] += args.channel_offset[first + dim];
  }
  if (args.channel_scale != nullptr) {
    for (std::int64_t dim = 0; dim < count; ++dim) out[dim] *= args.channel_scale[first + dim];
  }
  for (std::int64_t dim = 0; dim < count; ++dim) out[dim] += 0.0;
}

// Clamping first saturates and keeps the integer part within reach of the rounding by addition.
FIA_INLINE void RoundToInt8(const StoreArgs& args, std::int64_t row, std::int64_t first, std::int64_t count,
                            const double* value, std::int8_t* out) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  const float* scale = args.quant_scale[row] + first;
  const float* offset = args.quant_offset != nullptr ? args.quant_offset[row] + first : nullptr;
  for (std::int64_t dim = 0; dim < count; ++dim) {
    double x = value[dim] * scale[dim];
    if (offset != nullptr) x += offset[dim];
    x = x > -128.0 ? x : -128.0;
    x = x < 127.0 ? x : 127.0;
    out[dim] = static_cast<std::int8_t>((x + kMagic) - kMagic);
  }
}

// Elements of `size` bytes to where the row's lie, `stride` bytes apart.
FIA_INLINE void Scatter(const void* from, std::int64_t size, std::int64_t count, char* to,
                        std::int64_t stride) {
  const auto* bytes = static_cast<const char*>(from);
  if (stride == size) {
    std::memcpy(to, bytes, static_cast<std::size_t>(count * size));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (size == 1) std::memcpy(to + i * stride, bytes + i, 1);
    if (size == 2) std::memcpy(to + i * stride, bytes + i * 2, 2);
    if (size == 4) std::memcpy(to + i * stride, bytes + i * 4, 4);
  }
}

void StoreDims(const StoreArgs& args, std::int64_t row, std::int64_t first, std::int64_t count) {
  double value[kDims];
  FinishDims(args, row, first, count, value);
  char* to = static_cast<char*>(args.out_rows[row]) + first * args.out_dim_stride;
  if (args.out_type == DataType::kInt8) {
    std::int8_t rounded[kDims];
    RoundToInt8(args, row, first, count, value, rounded);
    return Scatter(rounded, 1, count, to, args.out_dim_stride);
  }
  float single[kDims] = {};
  for (std::int64_t dim = 0; dim < count; ++dim) single[dim] = static_cast<float>(value[dim]);
  if (args.out_type == DataType::kFloat32) return Scatter(single, 4, count, to, args.out_dim_stride);
  std::uint16_t half[kDims];
  for (std::int64_t dim = 0; dim < count; dim += kWidth) {
    if (args.out_type == DataType::kFloat16) StoreFloat16(half + dim, Load(single + dim));
    if (args.out_type == DataType::kBfloat16) StoreBfloat16(half + dim, Load(single + dim));
  }
  Scatter(half, 2, count, to, args.out_dim_stride);
}

}  // namespace

void StoreRows(const StoreArgs& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    if (args.out_rows[row] == nullptr) continue;
    for (std::int64_t dim = 0; dim < args.value_dim; dim += kDims) {
      StoreDims(args, row, dim, Smaller(kDims, args.value_dim - dim));
    }
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE
