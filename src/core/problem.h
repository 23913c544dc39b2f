// The normal form of a call: what layouts, storage, padding, prefix and lists become before anything is
// planned. Addresses are (slot of the executor's address table) + byte offset; nothing here points at the
// caller's memory.
#ifndef FIA_CORE_PROBLEM_H_
#define FIA_CORE_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "fia/tensor.h"

namespace fia {

constexpr std::int32_t kNoSlot = -1;

// A tensor of rows: the element (row, head, d) is at
//   slot + offset + row * row_stride + head * head_stride + (d / chunk) * chunk_stride + (d % chunk) *
//   dim_stride
// Strides in bytes. `chunk` is the whole dim but for FRACTAL_NZ caches (D0) and int4 in int32 words that are
// not adjacent (8).
// int4 counts d in nibbles: dim_stride is not used, a chunk's elements are adjacent nibbles.
struct RowTensor {
  std::int32_t slot = kNoSlot;
  DataType dtype = DataType::kUndefined;
  std::int64_t row_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t block_stride = 0;  // paged caches: between blocks; rows then count inside the block
  std::int64_t chunk = 0;
  std::int64_t chunk_stride = 0;
  std::int64_t dim_stride = 0;

  bool present() const noexcept { return slot != kNoSlot; }
  // A row of `dim` elements is adjacent in memory.
  bool contiguous(std::int64_t dim) const noexcept {
    return chunk >= dim && (dtype == DataType::kInt4 || dim <= 1 || dim_stride * 8 == bits());
  }
  std::int64_t bits() const noexcept;
};

// Key, value and (with rope) rotary key of one storage: the cache, one list member, or the prefix.
struct KvTensors {
  RowTensor key;
  RowTensor value;
  RowTensor rope;
  bool paged = false;
};

// Positions [begin, end) of one sequence, held by storage[tensors]. Offsets are bytes to the row of position
// `begin` (paged: to block 0; kv left padding: to padded row 0) of kv head 0.
struct KvSegment {
  std::int32_t tensors = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t key_offset = 0;
  std::int64_t value_offset = 0;
  std::int64_t rope_offset = 0;
};

// One sequence. Offsets are bytes to padded row 0 (packed: to its first row), head 0.
struct Sequence {
  std::int64_t query_count = 0;  // S1
  std::int64_t key_count = 0;    // S2, prefix included
  std::int64_t query_axis =
      0;  // rows the output has for this sequence; rows outside the valid ones are filled
  std::int64_t key_axis =
      0;  // the padded kv axis, prefix not included (left padding starts at key_axis - p - S2)
  std::int64_t query_offset = 0;
  std::int64_t query_rope_offset = 0;
  std::int64_t query_scale_offset = 0;  // int8 MLA
  std::int64_t out_offset = 0;
  std::int64_t lse_offset = 0;
  std::int64_t mask_offset = 0;
  std::int64_t bias_offset = 0;
  // Key j is in the band of query position i when i + band_low <= j <= i + band_high; +-kUnbounded without a
  // limit.
  std::int64_t band_low = 0;
  std::int64_t band_high = 0;
  KvSegment segments[2];  // in order of position: prefix (if any), then the sequence's own
  std::int32_t segment_count = 0;
};

constexpr std::int64_t kUnbounded = std::int64_t{1} << 40;

// A tensor over (position i, key j): masks and pseShift. Indexed by padded positions (qB + i, kB + j), prefix
// first.
struct PairTensor {
  std::int32_t slot = kNoSlot;
  DataType dtype = DataType::kUndefined;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;  // per query position
  std::int64_t key_stride = 0;

  bool present() const noexcept { return slot != kNoSlot; }
};

// A scale or offset of the kv cache. Element for (sequence b, kv head n, padded position t, d):
//   slot + offset + b * batch_stride + n * head_stride + t * token_stride + d * dim_stride
// or, when paged with the cache: slot + offset + block * block_stride + n * head_stride + (t % block_size) *
// token_stride. Strides an argument does not have are 0. Which of them vary decides how it is applied.
struct KvScale {
  std::int32_t slot = kNoSlot;
  DataType dtype = DataType::kUndefined;
  std::int64_t offset = 0;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t block_stride = 0;
  std::int64_t dim_stride = 0;
  bool per_token = false;
  bool per_channel = false;
  bool paged = false;

  bool present() const noexcept { return slot != kNoSlot; }
};

// A vector or scalar read in phase two: element k at slot + k * stride bytes.
struct VectorTensor {
  std::int32_t slot = kNoSlot;
  DataType dtype = DataType::kUndefined;
  std::int64_t stride = 0;

  bool present() const noexcept { return slot != kNoSlot; }
};

enum class Flow : std::int32_t { kFloat, kAntiquant, kInt8, kInt8Mla };

// int8 output: one scale and offset, or one for each element e = head * Dv + d of the row-major `dims`.
struct OutputQuantisation {
  std::int32_t scale_slot = kNoSlot;
  std::int32_t offset_slot = kNoSlot;
  DataType dtype = DataType::kUndefined;
  // Any shape of N * Dv elements: an element is found through dims and strides (in bytes), innermost last.
  std::int32_t rank = 0;
  std::int64_t dims[kMaxRank] = {};
  std::int64_t scale_strides[kMaxRank] = {};
  std::int64_t offset_strides[kMaxRank] = {};
  bool per_channel = false;
  bool empty_row_is_offset = false;  // decode call: a sequence with S2 == 0 gives round(offset)

  bool present() const noexcept { return scale_slot != kNoSlot; }
};

struct Problem {
  Flow flow = Flow::kFloat;
  std::int64_t num_heads = 0;     // N
  std::int64_t num_kv_heads = 0;  // Nk
  std::int64_t group = 0;         // G = N / Nk
  std::int64_t head_dim = 0;      // D
  std::int64_t value_dim = 0;     // Dv
  std::int64_t rope_dim = 0;      // Dr, 0 without rope
  float scale = 0;
  bool narrow = false;  // innerPrecise 1 or 3: p may be narrowed to the query's type

  RowTensor query;  // row stride: between query positions; batch in Sequence offsets
  RowTensor query_rope;
  RowTensor out;
  RowTensor lse;  // dim 1; slot kNoSlot when not asked for
  PairTensor mask;
  PairTensor bias;
  VectorTensor sink;  // element n

  std::vector<KvTensors> storage;  // [1], one for each list member, or the cache and then the prefix
  std::int64_t block_size = 0;     // paged
  std::int64_t block_count = 0;    // blocks in the cache
  std::int32_t block_table_slot = kNoSlot;
  std::int64_t table_row_stride = 0;  // bytes, between sequences
  std::int64_t table_block_stride = 0;

  std::int32_t query_padding_slot = kNoSlot;  // left padding is on when there is a slot
  std::int32_t kv_padding_slot = kNoSlot;

  KvScale key_scale;  // antiquant: k = (stored + key_offset) * key_scale
  KvScale key_offset;
  KvScale value_scale;  // int8 MLA: per-tensor key_scale and value_scale
  KvScale value_offset;
  RowTensor query_scale;                              // int8 MLA: dim 1
  VectorTensor deq_scale1, quant_scale1, deq_scale2;  // int8 flow
  OutputQuantisation output_quantisation;

  std::vector<Sequence> sequences;

  // Nothing to compute: all of attention_out is zero (or empty) and all of lse +inf. `sequences` is then
  // empty and the outputs are filled by their own dims.
  bool fill_only = false;
  TensorView fill_out;  // dims and strides of the outputs, data unused
  TensorView fill_lse;  // rank -1: not asked for

  std::vector<std::int32_t>
      used_slots;  // every slot phase two reads or writes: a null address there is an error
};

inline std::int64_t RowTensor::bits() const noexcept {
  switch (dtype) {
    case DataType::kInt4:
      return 4;
    case DataType::kInt8:
      return 8;
    case DataType::kFloat32:
      return 32;
    default:
      return 16;
  }
}

}  // namespace fia

#endif  // FIA_CORE_PROBLEM_H_
