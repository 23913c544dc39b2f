// From names to numbers: layouts, storage, padding, prefix and lists become strided views and kv segments.
#ifndef FIA_DESCRIBE_DESCRIBE_H_
#define FIA_DESCRIBE_DESCRIBE_H_

#include "core/call.h"
#include "core/problem.h"
#include "fia/attention.h"

namespace fia {

// The normal form of an accepted call. Cannot fail but for std::bad_alloc: CheckCall has accepted `params`
// and filled `call`.
Problem Describe(const AttentionParams& params, const Call& call);

}  // namespace fia

#endif  // FIA_DESCRIBE_DESCRIBE_H_
