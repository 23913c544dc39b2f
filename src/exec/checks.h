// What phase two refuses.
#ifndef FIA_EXEC_CHECKS_H_
#define FIA_EXEC_CHECKS_H_

#include <cstdint>

#include "core/plan.h"
#include "fia/status.h"

namespace fia {

// The rules "workspace", "address" and "block_id", in this order. Writes nothing; allocates for error texts
// only.
Status CheckRun(const Plan& plan, void* const* addresses, const void* workspace,
                std::uint64_t workspace_size);

}  // namespace fia

#endif  // FIA_EXEC_CHECKS_H_
