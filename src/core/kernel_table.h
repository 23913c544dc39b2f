// What an instruction set's kernels offer: functions on one tile of one head group. Plain structs in, plain
// structs out; no layouts, no storage, no lengths: a tile is rows of queries against `keys` consecutive
// positions of one sequence.
//
// The rows of a tile are row r = i * G + g in order: query positions, and within one the G query heads of one
// kv head, so that a key and a value are read and converted once for the whole group.
#ifndef FIA_CORE_KERNEL_TABLE_H_
#define FIA_CORE_KERNEL_TABLE_H_

#include <cstdint>

#include "fia/tensor.h"

namespace fia {

// The two bodies, and the second one again in narrow. Which one serves a sequence depends on its own S1 * G,
// the call's types and innerPrecise, and the instruction set alone.
enum class Body : std::int32_t {
  kFewRows,         // keys and values stream through registers
  kManyRows,        // they are converted once into packed float32 tiles for a register-blocked product
  kBfloat16Scores,  // many rows; q . k is a product of pairs of bfloat16, as they are stored
  kBfloat16,        // many rows; p . v as well, p rounded to bfloat16
};
constexpr Body kBodies[] = {Body::kFewRows, Body::kManyRows, Body::kBfloat16Scores, Body::kBfloat16};
constexpr int kBodyCount = 4;

// Element types a cache can have, in table order.
enum class KvType : std::int32_t { kFloat16, kBfloat16, kFloat32, kInt8, kInt4 };
constexpr int kKvTypeCount = 5;

// What the sizes of scratch depend on.
struct TileShape {
  std::int64_t rows = 0;       // most rows of a tile
  std::int64_t keys = 0;       // most keys of a tile
  std::int64_t head_dim = 0;   // D
  std::int64_t rope_dim = 0;   // Dr, 0 without rope
  std::int64_t value_dim = 0;  // Dv
};

// The running softmax of `rows` rows: everything a set of keys contributes. Empty: row_max -inf, row_sum 0,
// acc 0.
struct SoftmaxState {
  float* row_max = nullptr;     // [rows] largest score so far, -inf: no key attended yet
  double* row_sum = nullptr;    // [rows] sum of exp(s - row_max)
  float* offset_sum = nullptr;  // [rows] sum of p * value_scale * value_offset (per-token value offsets),
                                // null when there are none
  float* acc = nullptr;         // [rows, acc_stride] sum of p * v in stored units
  std::int64_t acc_stride = 0;  // floats, a multiple of 16, >= value_dim
};

// What becomes of p before it multiplies v. row_sum always takes the plain p.
enum class Weights : std::int32_t {
  kFloat,         // p itself
  kBlockInt8,     // int8 MLA: p8 = round(127 * exp(s - c)), c the row's maximum within this tile; acc takes
                  // exp(c - m) * (p8 . v8) / 127
  kMaxOnly,       // int8 flow, first pass: only row_max is updated
  kFixedMaxInt8,  // int8 flow, second pass: row_max is final; acc takes sat(round(p * weight_scale)) . v8
};

// Queries of one tile, to be converted and packed by load_query.
struct QueryArgs {
  Body body = Body::kFewRows;
  TileShape shape;
  std::int64_t rows = 0;
  const void* const* query_rows =
      nullptr;  // [rows] -> [head_dim] of query_type, elements `query_dim_stride` bytes apart
  const void* const* rope_rows = nullptr;    // [rows] -> [rope_dim], null without rope
  DataType query_type = DataType::kFloat16;  // float16, bfloat16, float32 or int8
  DataType rope_type = DataType::kFloat16;
  std::int64_t query_dim_stride = 0;     // bytes
  std::int64_t rope_dim_stride = 0;      // bytes
  float key_factor = 1;                  // multiplies the query
  const float* channel_scale = nullptr;  // [head_dim] multiplies the query (antiquant per channel), or null
  const float* channel_offset =
      nullptr;  // [head_dim] key offset per channel, or null: row_offset[r] = sum_d q * scale * offset
  float* row_offset =
      nullptr;  // [rows] out: with channel_offset as above; else, if not null, the plain sum_d q * scale
  void* packed = nullptr;  // out: query_bytes(...) bytes, 64-byte aligned
};

// One tile: scores, softmax update, weighted values.
struct TileArgs {
  TileShape shape;        // the call's largest tile: what scratch and packed were sized for
  std::int64_t rows = 0;  // this tile's
  std::int64_t keys = 0;
  const void* packed_query = nullptr;
  // Stored rows of each key, adjacent elements. For positions that no row attends the pointers may be stale:
  // such keys are masked for every row, and whatever is read there must not matter.
  const void* const* key_rows = nullptr;    // [keys] -> [head_dim]
  const void* const* value_rows = nullptr;  // [keys] -> [value_dim]
  const void* const* rope_rows = nullptr;   // [keys] -> [rope_dim] of rope_type, null without rope
  DataType rope_type = DataType::kFloat16;
  // Key rows that are likely to be read after this tile's values, to be asked for meanwhile; nothing is
  // computed of them.
  const void* const* next_key_rows = nullptr;  // [next_keys] -> [head_dim]
  std::int64_t next_keys = 0;
  // Scores: s = (q . k + key_offset[j] * row_offset[r]) * key_scale[j] * row_scale[r] * scale + bias; null
  // factors are 1, null offsets 0. A row_offset without key_offset is added as it stands: s = (q . k +
  // row_offset[r]) * ...
  double scale = 1;                   // in double: with row_scale it may be ordinary where it is not alone
  const float* row_offset = nullptr;  // [rows]
  const float* key_offset = nullptr;  // [keys]
  const float* key_scale = nullptr;   // [keys]
  const float* row_scale = nullptr;   // [rows]
  const void* const* bias_rows = nullptr;   // [rows] -> element of this tile's first key, null without bias
  DataType bias_type = DataType::kFloat16;  // float16, bfloat16, float32
  std::int64_t bias_key_stride = 0;         // bytes
  const std::uint8_t* const* mask_rows =
      nullptr;                       // [rows] -> byte of the first key; non-zero masks; null without mask
  std::int64_t mask_key_stride = 0;  // bytes
  const std::int32_t* attend_begin =
      nullptr;  // [rows] the band: keys [begin, end) of the tile are attended; null: all keys
  const std::int32_t* attend_end = nullptr;
  // Weights: the p that multiplies v is p * value_scale[j]; row_sum takes the plain p.
  const float* value_scale = nullptr;   // [keys]
  const float* value_offset = nullptr;  // [keys] adds p * value_scale * value_offset to state.offset_sum
  Weights weights = Weights::kFloat;
  float weight_scale = 1;   // kFixedMaxInt8
  SoftmaxState state;       // updated
  void* scratch = nullptr;  // scratch_bytes(...) bytes, 64-byte aligned
};

// Finished rows to the output type: x = acc[r][d] * factor[r]; x = (x + addend[r] + channel_offset[d]) *
// channel_scale[d]; then, for int8, round(x * quant_scale[d] + quant_offset[d]) to nearest even, saturated;
// else one rounding to out_type.
struct StoreArgs {
  std::int64_t rows = 0;
  std::int64_t value_dim = 0;
  const float* acc = nullptr;
  std::int64_t acc_stride = 0;
  const double* factor = nullptr;         // [rows]
  const float* addend = nullptr;          // [rows] or null
  const float* channel_offset = nullptr;  // [value_dim] or null
  const float* channel_scale = nullptr;   // [value_dim] or null
  void* const* out_rows =
      nullptr;  // [rows] -> [value_dim], elements out_dim_stride bytes apart; null entries are skipped
  DataType out_type = DataType::kFloat16;      // float16, bfloat16, float32, int8
  std::int64_t out_dim_stride = 0;             // bytes
  const float* const* quant_scale = nullptr;   // [rows] -> [value_dim], null unless int8
  const float* const* quant_offset = nullptr;  // [rows] -> [value_dim], null without offset
};

struct KernelTable {
  const char* isa;
  // Bytes that load_query fills and that a tile call needs as scratch; multiples of 64.
  std::int64_t (*query_bytes)(Body body, const TileShape& shape);
  std::int64_t (*scratch_bytes)(Body body, const TileShape& shape);
  void (*load_query)(const QueryArgs& args);
  // Null where the set has no such body. The bfloat16 bodies take caches, queries and rope parts of bfloat16
  // without scales or offsets.
  void (*tile[kBodyCount][kKvTypeCount])(const TileArgs& args);
  // into = into joined with from: the state of the union of their keys. An empty side leaves the other's bits
  // unchanged.
  void (*merge)(const SoftmaxState& into, const SoftmaxState& from, std::int64_t rows,
                std::int64_t value_dim);
  void (*store)(const StoreArgs& args);
};

}  // namespace fia

#endif  // FIA_CORE_KERNEL_TABLE_H_
