// Phase one's checks: every rule the operator has, in its order.
#ifndef FIA_CHECK_CHECK_H_
#define FIA_CHECK_CHECK_H_

#include "core/call.h"
#include "fia/attention.h"

namespace fia {

// Reads no tensor data. On success *call holds the call's facts. May throw std::bad_alloc (turned into a
// status by the api).
Status CheckCall(const AttentionParams& params, Call* call);

}  // namespace fia

#endif  // FIA_CHECK_CHECK_H_
