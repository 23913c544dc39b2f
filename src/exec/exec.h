// Runs a plan.
#ifndef FIA_EXEC_EXEC_H_
#define FIA_EXEC_EXEC_H_

#include <cstdint>

#include "core/plan.h"
#include "fia/status.h"

namespace fia {

// Computes `plan` from and to the memory that `addresses` (one for each slot) points at. Checks addresses and
// block ids before anything is written. No heap allocation but for error texts.
Status RunPlan(const Plan& plan, void* const* addresses, void* workspace, std::uint64_t workspace_size);

}  // namespace fia

#endif  // FIA_EXEC_EXEC_H_
