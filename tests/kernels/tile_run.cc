// Running the kernels over a case.
#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

// Bytes at a 64-byte boundary that end with their block, filled with what would show if it counted.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::int64_t size)
      : data_(::operator new(static_cast<std::size_t>(size), std::align_val_t(64))) {
    std::memset(data_, 0xff, static_cast<std::size_t>(size));
  }
  ~AlignedBytes() { ::operator delete(data_, std::align_val_t(64)); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
};

// The part of a per-key array that belongs to a tile, in memory of its own.
std::vector<float> Slice(const std::vector<float>& values, std::int64_t first, std::int64_t count) {
  if (values.empty()) return {};
  return {values.begin() + first, values.begin() + first + count};
}

const float* OrNull(const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); }

TileShape ShapeOf(const TileCase& spec, std::int64_t rows) {
  return {rows, *std::max_element(spec.tiles.begin(), spec.tiles.end()), spec.head_dim, spec.rope_dim,
          spec.value_dim};
}

void LoadQuery(const KernelTable& kernels, const TileData& data, std::int64_t first_row, std::int64_t rows,
               void* packed) {
  QueryArgs args;
  args.body = data.spec.body;
  args.shape = ShapeOf(data.spec, rows);
  args.rows = rows;
  args.query_rows = data.query.rows() + first_row;
  args.query_type = data.spec.query;
  args.query_dim_stride = data.query.stride_bytes();
  if (data.spec.rope_dim > 0) {
    args.rope_rows = data.query_rope.rows() + first_row;
    args.rope_type = data.spec.rope;
    args.rope_dim_stride = data.query_rope.stride_bytes();
  }
  args.packed = packed;
  kernels.load_query(args);
}

// What a tile call needs besides the arguments it points at.
struct TileMemory {
  std::vector<float> key_scale, key_offset, value_scale, value_offset;
  std::vector<const void*> bias;
  std::vector<const std::uint8_t*> mask;
  std::vector<std::int32_t> begin, end;
};

void SetKeys(const TileData& data, std::int64_t first_key, TileArgs& args, TileMemory& memory) {
  args.key_rows = data.key.rows() + first_key;
  args.value_rows = data.value.rows() + first_key;
  if (data.spec.rope_dim > 0) args.rope_rows = data.key_rope.rows() + first_key;
  args.rope_type = data.spec.rope;
  memory.key_scale = Slice(data.key_scale, first_key, args.keys);
  memory.key_offset = Slice(data.key_offset, first_key, args.keys);
  memory.value_scale = Slice(data.value_scale, first_key, args.keys);
  memory.value_offset = Slice(data.value_offset, first_key, args.keys);
  args.key_scale = OrNull(memory.key_scale);
  args.key_offset = OrNull(memory.key_offset);
  args.value_scale = OrNull(memory.value_scale);
  args.value_offset = OrNull(memory.value_offset);
}

void SetRows(const TileData& data, std::int64_t first_row, std::int64_t first_key, TileArgs& args,
             TileMemory& memory) {
  for (std::int64_t row = first_row; row < first_row + args.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const auto within = [&](std::int64_t key) {
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(key - first_key, 0, args.keys));
    };
    memory.begin.push_back(within(data.begin[r]));
    memory.end.push_back(within(data.end[r]));
    if (data.spec.bias != DataType::kUndefined) {
      memory.bias.push_back(static_cast<const char*>(data.bias.rows()[row]) +
                            first_key * data.bias.stride_bytes());
    }
    if (data.spec.mask) {
      memory.mask.push_back(static_cast<const std::uint8_t*>(data.mask.rows()[row]) +
                            first_key * data.mask.stride_bytes());
    }
  }
  if (data.spec.band != Band::kAll) {
    args.attend_begin = memory.begin.data();
    args.attend_end = memory.end.data();
  }
  if (!memory.bias.empty()) {
    args.bias_rows = memory.bias.data();
    args.bias_type = data.spec.bias;
    args.bias_key_stride = data.bias.stride_bytes();
  }
  if (!memory.mask.empty()) {
    args.mask_rows = memory.mask.data();
    args.mask_key_stride = data.mask.stride_bytes();
  }
  args.row_scale = data.row_scale.empty() ? nullptr : data.row_scale.data() + first_row;
  args.row_offset = data.row_offset.empty() ? nullptr : data.row_offset.data() + first_row;
}

}  // namespace

OwnedState RunTiles(const KernelTable& kernels, const TileData& data, std::int64_t first_row,
                    std::int64_t rows) {
  const TileCase& spec = data.spec;
  const TileShape shape = ShapeOf(spec, rows);
  AlignedBytes packed(kernels.query_bytes(spec.body, shape));
  AlignedBytes scratch(kernels.scratch_bytes(spec.body, shape));
  LoadQuery(kernels, data, first_row, rows, packed.data());
  OwnedState state(rows, spec.value_dim);
  // The second pass of int8 weights needs the maximum of all tiles.
  const bool two_passes = spec.weights == Weights::kFixedMaxInt8;
  for (int pass = two_passes ? 0 : 1; pass < 2; ++pass) {
    std::int64_t first_key = 0;
    for (std::int64_t keys : spec.tiles) {
      TileArgs args;
      TileMemory memory;
      args.shape = shape;
      args.rows = rows;
      args.keys = keys;
      args.packed_query = packed.data();
      args.scale = spec.scale;
      args.weights = pass == 0 ? Weights::kMaxOnly : spec.weights;
      args.weight_scale = spec.weight_scale;
      args.state = state.view();
      args.scratch = scratch.data();
      SetKeys(data, first_key, args, memory);
      SetRows(data, first_row, first_key, args, memory);
      kernels.tile[static_cast<int>(spec.body)][static_cast<int>(spec.kv)](args);
      first_key += keys;
    }
  }
  return state;
}

}  // namespace fia::testing
