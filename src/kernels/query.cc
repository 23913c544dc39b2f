#include "kernels/query.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/convert.h"
#include "kernels/scratch.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

// a * b. A product of finite numbers that overflows meets only keys of 0, or the score itself is out of
// float32's range: with an infinity 0 would become NaN.
float Product(float a, float b) {
  const float product = a * b;
  const bool overflows = std::isinf(product) && std::isfinite(a) && std::isfinite(b);
  return overflows ? std::copysign(std::numeric_limits<float>::max(), product) : product;
}

// `count` bfloat16 elements `stride` bytes apart, as they are.
void CopyBfloat16(const void* from, std::int64_t stride, std::int64_t count, void* to) {
  constexpr std::int64_t kBytes = 2;
  const auto* bytes = static_cast<const unsigned char*>(from);
  auto* copies = static_cast<unsigned char*>(to);
  if (stride == kBytes) {
    std::memcpy(copies, bytes, static_cast<std::size_t>(count * kBytes));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(copies + i * kBytes, bytes + i * stride, kBytes);
}

void LoadPairs(const QueryArgs& args, const QueryLayout& layout) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    float* packed = static_cast<float*>(args.packed) + row * layout.stride;
    for (std::int64_t slot = 0; slot < layout.stride; slot += kWidth) Store(packed + slot, Zero());
    CopyBfloat16(args.query_rows[row], args.query_dim_stride, args.shape.head_dim, packed);
    if (args.rope_rows == nullptr) continue;
    CopyBfloat16(args.rope_rows[row], args.rope_dim_stride, args.shape.rope_dim, packed + layout.rope);
  }
}

}  // namespace

std::int64_t QueryBytes(Body body, const TileShape& shape) {
  return shape.rows * LayoutOfQuery(body, shape).stride * static_cast<std::int64_t>(sizeof(float));
}

void LoadQuery(const QueryArgs& args) {
  const QueryLayout layout = LayoutOfQuery(args.body, args.shape);
  if (PairedKeys(args.body)) return LoadPairs(args, layout);
  const std::int64_t dims = args.shape.head_dim;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    float* packed = static_cast<float*>(args.packed) + row * layout.stride;
    for (std::int64_t dim = 0; dim < layout.stride; dim += kWidth) Store(packed + dim, Zero());
    ConvertRow(args.query_type, args.query_rows[row], args.query_dim_stride, dims, packed);
    if (args.key_factor != 1.0f) {
      for (std::int64_t dim = 0; dim < dims; ++dim) packed[dim] = Product(packed[dim], args.key_factor);
    }
    if (args.row_offset != nullptr) {
      double sum = 0;
      for (std::int64_t dim = 0; dim < dims; ++dim) {
        const double scale = args.channel_scale != nullptr ? args.channel_scale[dim] : 1.0f;
        const double offset = args.channel_offset != nullptr ? args.channel_offset[dim] : 1.0f;
        sum += packed[dim] * scale * offset;
      }
      args.row_offset[row] = static_cast<float>(sum);
    }
    if (args.channel_scale != nullptr) {
      for (std::int64_t dim = 0; dim < dims; ++dim)
        packed[dim] = Product(packed[dim], args.channel_scale[dim]);
    }
    if (args.rope_rows != nullptr) {
      ConvertRow(args.rope_type, args.rope_rows[row], args.rope_dim_stride, args.shape.rope_dim,
                 packed + layout.rope);
    }
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE
