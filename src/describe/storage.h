// Where keys and values lie: one tensor, a list of tensors, a paged cache, and the shared prefix.
#ifndef FIA_DESCRIBE_STORAGE_H_
#define FIA_DESCRIBE_STORAGE_H_

#include "core/call.h"
#include "core/problem.h"
#include "fia/attention.h"

namespace fia {

// Fills problem->storage and the block table.
void DescribeStorage(const AttentionParams& params, const Call& call, Problem* problem);

// Bytes from one sequence to the next in the keys' own storage; 0 for lists, packed layouts and caches.
struct KvSteps {
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t rope = 0;
};

KvSteps DescribeKvSteps(const AttentionParams& params, const Call& call) noexcept;

// Fills the segments of sequence `index`: the prefix, then its own keys.
void DescribeSegments(const Call& call, const KvSteps& steps, const Problem& problem, std::int64_t index,
                      Sequence* sequence) noexcept;

}  // namespace fia

#endif  // FIA_DESCRIBE_STORAGE_H_
