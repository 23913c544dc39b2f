#include "scalar_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fia/half.h"

namespace fia::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
T Read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float Element(const void* at, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return HalfToFloat(Read<std::uint16_t>(at));
    case DataType::kBfloat16:
      return Bfloat16ToFloat(Read<std::uint16_t>(at));
    case DataType::kInt8:
      return Read<std::int8_t>(at);
    default:
      return Read<float>(at);
  }
}

constexpr DataType kTypes[kKvTypeCount] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32,
                                           DataType::kInt8, DataType::kInt4};

std::int64_t SizeOf(DataType dtype) {
  return dtype == DataType::kFloat32 ? 4 : dtype == DataType::kInt8 ? 1 : 2;
}

// Element d of a stored row.
float Stored(const void* row, std::int64_t d, DataType dtype) {
  const auto* bytes = static_cast<const char*>(row);
  if (dtype != DataType::kInt4) return Element(bytes + d * SizeOf(dtype), dtype);
  const int nibble = static_cast<unsigned char>(bytes[d / 2]) >> (d % 2 * 4) & 15;
  return static_cast<float>(nibble < 8 ? nibble : nibble - 16);
}

float Saturated(float value) { return std::clamp(std::nearbyint(value), -128.0f, 127.0f); }

std::int64_t QueryBytes(Body, const TileShape& shape) {
  return (shape.rows * (shape.head_dim + shape.rope_dim) * 4 + 63) / 64 * 64;
}

std::int64_t ScratchBytes(Body, const TileShape& shape) { return (shape.keys * 4 + 63) / 64 * 64; }

// Packed: [rows, D + Dr] float.
void LoadQuery(const QueryArgs& args) {
  auto* to = static_cast<float*>(args.packed);
  for (std::int64_t r = 0; r < args.rows; ++r) {
    float offset = 0;
    for (std::int64_t d = 0; d < args.shape.head_dim; ++d) {
      const auto* from = static_cast<const char*>(args.query_rows[r]) + d * args.query_dim_stride;
      *to = Element(from, args.query_type) * (args.channel_scale != nullptr ? args.channel_scale[d] : 1);
      offset += *to++ * (args.channel_offset != nullptr ? args.channel_offset[d] : 1);
    }
    for (std::int64_t d = 0; d < args.shape.rope_dim; ++d) {
      *to++ = Element(static_cast<const char*>(args.rope_rows[r]) + d * args.rope_dim_stride, args.rope_type);
    }
    if (args.row_offset != nullptr) args.row_offset[r] = offset;
  }
}

// -inf where row r does not attend key j.
float Score(const TileArgs& args, DataType dtype, std::int64_t r, std::int64_t j) {
  if (args.attend_begin != nullptr && (j < args.attend_begin[r] || j >= args.attend_end[r]))
    return -kInfinity;
  if (args.mask_rows != nullptr && args.mask_rows[r][j * args.mask_key_stride] != 0) return -kInfinity;
  const TileShape& shape = args.shape;
  const float* q = static_cast<const float*>(args.packed_query) + r * (shape.head_dim + shape.rope_dim);
  float dot = 0;
  for (std::int64_t d = 0; d < shape.head_dim; ++d) dot += q[d] * Stored(args.key_rows[j], d, dtype);
  for (std::int64_t d = 0; d < shape.rope_dim; ++d) {
    dot += q[shape.head_dim + d] * Stored(args.rope_rows[j], d, args.rope_type);
  }
  if (args.row_offset != nullptr) {
    dot += args.row_offset[r] * (args.key_offset != nullptr ? args.key_offset[j] : 1);
  }
  if (args.key_scale != nullptr) dot *= args.key_scale[j];
  if (args.row_scale != nullptr) dot *= args.row_scale[r];
  dot *= args.scale;
  if (args.bias_rows == nullptr) return dot;
  return dot +
         Element(static_cast<const char*>(args.bias_rows[r]) + j * args.bias_key_stride, args.bias_type);
}

void Rescale(const SoftmaxState& state, std::int64_t r, std::int64_t value_dim, float new_max) {
  if (state.row_max[r] == new_max) return;
  const float factor = std::exp(state.row_max[r] - new_max);
  state.row_max[r] = new_max;
  state.row_sum[r] *= factor;
  if (state.offset_sum != nullptr) state.offset_sum[r] *= factor;
  for (std::int64_t d = 0; d < value_dim; ++d) state.acc[r * state.acc_stride + d] *= factor;
}

// What p becomes before it multiplies v; c is the row's maximum in this tile.
float Weight(const TileArgs& args, float score, float row_max, float c) {
  const float p = std::exp(score - row_max);
  if (args.weights == Weights::kFixedMaxInt8) return Saturated(p * args.weight_scale);
  if (args.weights != Weights::kBlockInt8) return p;
  return std::exp(c - row_max) * std::nearbyint(127 * std::exp(score - c)) / 127;
}

template <int type>
void Tile(const TileArgs& args) {
  constexpr DataType dtype = kTypes[type];
  const SoftmaxState& state = args.state;
  auto* scores = static_cast<float*>(args.scratch);
  for (std::int64_t r = 0; r < args.rows; ++r) {
    for (std::int64_t j = 0; j < args.keys; ++j) scores[j] = Score(args, dtype, r, j);
    const float c = *std::max_element(scores, scores + args.keys);
    if (c == -kInfinity) continue;
    if (args.weights == Weights::kMaxOnly) {
      state.row_max[r] = std::max(state.row_max[r], c);
      continue;
    }
    Rescale(state, r, args.shape.value_dim, std::max(state.row_max[r], c));
    for (std::int64_t j = 0; j < args.keys; ++j) {
      if (scores[j] == -kInfinity) continue;
      state.row_sum[r] += std::exp(scores[j] - state.row_max[r]);
      float weight = Weight(args, scores[j], state.row_max[r], c);
      if (args.value_scale != nullptr) weight *= args.value_scale[j];
      if (args.value_offset != nullptr) state.offset_sum[r] += weight * args.value_offset[j];
      float* acc = state.acc + r * state.acc_stride;
      for (std::int64_t d = 0; d < args.shape.value_dim; ++d) {
        acc[d] += weight * Stored(args.value_rows[j], d, dtype);
      }
    }
  }
}

void Merge(const SoftmaxState& into, const SoftmaxState& from, std::int64_t rows, std::int64_t value_dim) {
  for (std::int64_t r = 0; r < rows; ++r) {
    if (from.row_max[r] == -kInfinity) continue;
    const float joined = std::max(into.row_max[r], from.row_max[r]);
    const float factor = std::exp(from.row_max[r] - joined);
    Rescale(into, r, value_dim, joined);
    into.row_sum[r] += from.row_sum[r] * factor;
    if (into.offset_sum != nullptr) into.offset_sum[r] += from.offset_sum[r] * factor;
    for (std::int64_t d = 0; d < value_dim; ++d) {
      into.acc[r * into.acc_stride + d] += from.acc[r * from.acc_stride + d] * factor;
    }
  }
}

void StoreElement(float value, DataType dtype, void* to) {
  if (dtype == DataType::kInt8) {
    const auto rounded = static_cast<std::int8_t>(Saturated(value));
    std::memcpy(to, &rounded, sizeof rounded);
  } else if (dtype == DataType::kFloat32) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const std::uint16_t bits = dtype == DataType::kFloat16 ? FloatToHalf(value) : FloatToBfloat16(value);
    std::memcpy(to, &bits, sizeof bits);
  }
}

void Store(const StoreArgs& args) {
  for (std::int64_t r = 0; r < args.rows; ++r) {
    if (args.out_rows[r] == nullptr) continue;
    for (std::int64_t d = 0; d < args.value_dim; ++d) {
      auto x = static_cast<float>(args.acc[r * args.acc_stride + d] * args.factor[r]);
      if (args.addend != nullptr) x += args.addend[r];
      if (args.channel_offset != nullptr) x += args.channel_offset[d];
      if (args.channel_scale != nullptr) x *= args.channel_scale[d];
      if (args.quant_scale != nullptr) x *= args.quant_scale[r][d];
      if (args.quant_offset != nullptr) x += args.quant_offset[r][d];
      StoreElement(x, args.out_type, static_cast<char*>(args.out_rows[r]) + d * args.out_dim_stride);
    }
  }
}

}  // namespace

const KernelTable& ScalarKernels() {
  static constexpr KernelTable kTable = {
      "scalar",
      QueryBytes,
      ScratchBytes,
      LoadQuery,
      {{Tile<0>, Tile<1>, Tile<2>, Tile<3>, Tile<4>}, {Tile<0>, Tile<1>, Tile<2>, Tile<3>, Tile<4>}},
      Merge,
      Store};
  return kTable;
}

}  // namespace fia::testing
