// Quantisation: the scales of the cache, of the int8 flows and of the output.
#ifndef FIA_DESCRIBE_SCALES_H_
#define FIA_DESCRIBE_SCALES_H_

#include "core/call.h"
#include "core/problem.h"
#include "fia/attention.h"

namespace fia {

// Fills everything in *problem that a quantised call has more than a plain one.
void DescribeQuantisation(const AttentionParams& params, const Call& call, Problem* problem) noexcept;

// Bytes from one sequence to the next in the query's scale; 0 without one and for packed layouts.
std::int64_t QueryScaleStep(const AttentionParams& params, const Call& call) noexcept;

}  // namespace fia

#endif  // FIA_DESCRIBE_SCALES_H_
