// The facts of an accepted call, read off its arguments by `check` and used by `describe`.
#ifndef FIA_CORE_CALL_H_
#define FIA_CORE_CALL_H_

#include <cstdint>
#include <vector>

#include "core/layout.h"
#include "core/problem.h"

namespace fia {

// How paged caches are laid out, told by their rank.
enum class CacheForm : std::int32_t { kNone, kBlockTokenHidden = 3, kBlockHeadTokenDim = 4, kFractalNz = 5 };

// How the kv antiquant scales came: not at all, as separate key and value tensors, or combined with a leading
// axis of 2.
enum class AntiquantSource : std::int32_t { kNone, kSeparate, kCombined };

struct Call {
  const Layout* layout = nullptr;
  std::int64_t batch = 0;         // B
  std::int64_t num_heads = 0;     // N
  std::int64_t num_kv_heads = 0;  // Nk, never 0 after checking
  std::int64_t head_dim = 0;      // D, int4 unpacked
  std::int64_t value_dim = 0;     // Dv
  std::int64_t rope_dim = 0;      // 64 or 0
  std::int64_t query_axis = 0;    // Q_S: the S axis; packed: the largest S1
  std::int64_t kv_axis =
      0;  // KV_S: the S axis; packed: the largest S2; list: the largest S; paged: W * blockSize
  std::int64_t prefix_length = 0;  // L; 0 without a prefix
  std::int64_t block_size = 0;     // paged
  std::int64_t block_count = 0;    // paged: blocks in the cache
  CacheForm cache = CacheForm::kNone;
  Flow flow = Flow::kFloat;
  AntiquantSource antiquant = AntiquantSource::kNone;
  DataType kv_dtype = DataType::kUndefined;  // of the elements: int4 also when packed in int32
  bool int4_in_int32 = false;
  bool tensor_list = false;  // more than one key tensor
  bool decode = false;       // the "decode call": Q_S == 1, BSH / BSND / BNSD, no rope, D == Dv
  bool query_left_padded = false;
  bool kv_left_padded = false;
  bool has_mask = false;    // a mask tensor whose contents are read (full mask): modes 0, 1, and decode calls
  bool has_bias = false;    // pseShift with elements
  bool has_prefix = false;  // a prefix with S > 0
  std::int64_t sparse_mode = 0;  // 0 for decode calls
  std::int64_t pre_tokens = 0;   // clamped to +-2147483647
  std::int64_t next_tokens = 0;
  // Section "Empty tensors": nothing is computed, attentionOut is filled with 0 and softmaxLse (if asked for)
  // with +inf.
  bool fill_only = false;
  std::vector<std::int64_t> query_lengths;  // [B] S1
  std::vector<std::int64_t> query_starts;   // [B] packed: first token of the sequence; padded: 0
  std::vector<std::int64_t> kv_lengths;     // [B] of the sequence's own keys, prefix not counted
  std::vector<std::int64_t> kv_starts;      // [B] packed and not paged: first token; else 0
};

}  // namespace fia

#endif  // FIA_CORE_CALL_H_
