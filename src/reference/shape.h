// What the reference reads off the arguments of a call: axes, lengths, and which features are on.
#ifndef FIA_REFERENCE_SHAPE_H_
#define FIA_REFERENCE_SHAPE_H_

#include <cstdint>
#include <vector>

#include "fia/attention.h"
#include "reference/element.h"

namespace fia::reference {

// Order of a tensor's axes; in BSH the heads lie in the dim axis.
enum class AxisOrder { kBsh, kBsnd, kBnsd, kNbsd, kTnd, kNtd };

// How int8 queries are computed; kFloat: the query is floating point.
enum class QueryKind { kFloat, kInt8, kInt8Mla };

struct SequenceShape {
  std::int64_t query_length = 0;  // S1
  std::int64_t query_start = 0;   // packed: token of its first row
  std::int64_t query_begin = 0;   // qB: first valid row; negative: the padding does not fit
  std::int64_t kv_length = 0;     // of its own keys, without the prefix
  std::int64_t kv_start = 0;      // packed: token of its first key
  std::int64_t kv_begin = 0;      // kB: first valid key; negative: the padding does not fit
};

struct CallShape {
  AxisOrder input = AxisOrder::kBsh;   // query, key, value, rope
  AxisOrder output = AxisOrder::kBsh;  // attention_out
  bool packed = false;
  std::int64_t batch = 0;       // B
  std::int64_t heads = 0;       // N
  std::int64_t kv_heads = 0;    // Nk
  std::int64_t dim = 0;         // D, int4 counted unpacked
  std::int64_t value_dim = 0;   // Dv
  std::int64_t rope_dim = 0;    // 0 without rope
  std::int64_t query_axis = 0;  // Q_S: the S axis; packed: the largest S1
  std::int64_t prefix = 0;      // L
  QueryKind kind = QueryKind::kFloat;
  bool paged = false;
  bool list = false;                     // one key and value tensor for each sequence
  bool decode = false;                   // Q_S == 1, BSH, BSND or BNSD, no rope, D == Dv
  bool left_padded = false;              // either padding is on
  bool fill_only = false;                // empty tensors: outputs are filled, nothing else is read
  std::vector<SequenceShape> sequences;  // [B]

  std::int64_t KeyCount(std::int64_t sequence) const noexcept {  // S2
    return prefix + sequences[static_cast<std::size_t>(sequence)].kv_length;
  }
  // Rows of the output that belong to one head of a sequence.
  std::int64_t RowCount(std::int64_t sequence) const noexcept {
    return packed ? sequences[static_cast<std::size_t>(sequence)].query_length : query_axis;
  }
};

// Reads dims and host arrays only. False when the layout's name is unknown or the shapes contradict it.
// query_begin and kv_begin are left 0.
bool ReadShape(const AttentionParams& params, CallShape* shape);

// Reads the padding sizes and sets query_begin and kv_begin.
void ReadPadding(const AttentionParams& params, CallShape* shape);

bool QueryIsPadded(const AttentionParams& params, const CallShape& shape) noexcept;
bool KvIsPadded(const AttentionParams& params) noexcept;

// The elements of (batch, token, head) in a tensor whose axes lie in that order; dim: elements of one head.
HeadRow RowOf(const TensorView& view, AxisOrder order, std::int64_t dim, std::int64_t batch,
              std::int64_t token, std::int64_t head) noexcept;

}  // namespace fia::reference

#endif  // FIA_REFERENCE_SHAPE_H_
