// Where the keys and values of a sequence lie: own tensor, list member, packed tokens, paged cache, prefix.
#ifndef FIA_REFERENCE_STORAGE_H_
#define FIA_REFERENCE_STORAGE_H_

#include <cstdint>

#include "fia/attention.h"
#include "reference/element.h"
#include "reference/shape.h"

namespace fia::reference {

enum class KvPart { kKey, kValue, kKeyRope };

// A token's place in a paged cache.
struct CacheSlot {
  std::int64_t block = 0;
  std::int64_t offset = 0;
};

// Of own token `token` (prefix not counted) of a sequence; the block table entry has been checked.
CacheSlot SlotOf(const AttentionParams& params, std::int64_t sequence, std::int64_t token) noexcept;

// Key, value or rotary key j (prefix first) of kv head `kv_head`.
HeadRow KvRow(const AttentionParams& params, const CallShape& shape, KvPart part, std::int64_t sequence,
              std::int64_t kv_head, std::int64_t j) noexcept;

// kRuntimeError when a tensor that the reference reads has no address, or a used block table entry is no
// block of the cache.
Status CheckStorage(const AttentionParams& params, const CallShape& shape);

}  // namespace fia::reference

#endif  // FIA_REFERENCE_STORAGE_H_
