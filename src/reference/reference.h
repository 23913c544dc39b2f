// The reference without phase one's checks: for calls that are known to be accepted.
#ifndef FIA_REFERENCE_REFERENCE_H_
#define FIA_REFERENCE_REFERENCE_H_

#include <vector>

#include "fia/attention.h"
#include "fia/reference.h"

namespace fia::reference {

// As fia::ComputeReference for a call that GetWorkspaceSize accepts; what it refuses is undefined here, but
// for unknown layouts and contradicting ranks (kTilingError).
Status ComputeAccepted(const AttentionParams& params, const std::vector<RowIndex>* rows,
                       ReferenceResult* result);

}  // namespace fia::reference

#endif  // FIA_REFERENCE_REFERENCE_H_
