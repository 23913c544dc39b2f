// Where the rows and keys of a CallSpec lie: axes, starts of sequences, and which keys a row attends. Written
// from the interface's rules alone.
#ifndef FIA_TESTS_SUPPORT_CALL_GEOMETRY_H_
#define FIA_TESTS_SUPPORT_CALL_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "support/call_memory.h"
#include "support/call_spec.h"

namespace fia::testing {

// Order of axes of query, key, value or output.
enum class AxisOrder { kBsh, kBsnd, kBnsd, kNbsd, kTnd, kNtd };

struct SequenceGeometry {
  std::int64_t rows = 0;         // S1
  std::int64_t keys = 0;         // S2, prefix included
  std::int64_t query_base = 0;   // packed: first token
  std::int64_t kv_base = 0;      // packed and not paged: first token
  std::int64_t query_start = 0;  // padded position of the first row (left padding)
  std::int64_t kv_start = 0;     // padded position of the first own key
  bool computed = true;          // false: left padding leaves no room
};

struct CallGeometry {
  explicit CallGeometry(const CallSpec& spec);

  AxisOrder input = AxisOrder::kBnsd;
  AxisOrder output = AxisOrder::kBnsd;
  bool packed = false;
  bool decode = false;
  bool query_padded = false;  // left padding is on
  bool kv_padded = false;
  std::int64_t query_axis = 0;    // padded: the S axis; packed: the longest S1
  std::int64_t kv_axis = 0;       // padded tensors: the S axis; lists and packed: the longest; paged: blocks
  std::int64_t query_tokens = 0;  // packed: T
  std::int64_t kv_tokens = 0;     // packed and not paged: Tkv
  std::int64_t prefix = 0;        // L
  std::int64_t table_width = 0;   // paged: W
  std::int64_t mask_columns = 0;  // fewest columns of masks, pseShift and per-token scales
  std::vector<SequenceGeometry> sequences;

  // Row i of sequence b attends key j (prefix first). Bias elements of -inf are not looked at.
  bool Attends(const CallSpec& spec, std::int64_t b, std::int64_t i, std::int64_t j) const;
  // Some row of sequence b attends key j.
  bool AnyAttends(const CallSpec& spec, std::int64_t b, std::int64_t j) const;
};

// The mask element for row i and key j of sequence b: non-zero masks.
double MaskElement(const CallSpec& spec, const CallGeometry& geometry, std::int64_t b, std::int64_t i,
                   std::int64_t j);

// The axes' lengths of a tensor in that order; `tokens` is S or T.
std::vector<std::int64_t> DimsOf(AxisOrder order, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                                 std::int64_t dim);

// How to find elements of such a tensor. `packing`: elements in one element of the view (int4 in int32: 8).
Rows RowsOf(const TensorView& view, AxisOrder order, std::int64_t dim, DataType dtype, std::int64_t packing);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_GEOMETRY_H_
