// What decides on a pair of query position and key: the band, the mask tensor and the bias.
#ifndef FIA_DESCRIBE_PAIRS_H_
#define FIA_DESCRIBE_PAIRS_H_

#include "core/call.h"
#include "core/problem.h"
#include "fia/attention.h"

namespace fia {

// Fills problem->mask and problem->bias.
void DescribePairs(const AttentionParams& params, const Call& call, Problem* problem) noexcept;

// Bytes from one sequence to the next; 0 where one batch entry serves all.
std::int64_t MaskStep(const AttentionParams& params, const Call& call) noexcept;
std::int64_t BiasStep(const AttentionParams& params, const Call& call) noexcept;

// Sets the band of a sequence whose query_count and key_count are known.
void DescribeBand(const Call& call, Sequence* sequence) noexcept;

}  // namespace fia

#endif  // FIA_DESCRIBE_PAIRS_H_
