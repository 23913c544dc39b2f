// Where everything lies in the workspace.
#ifndef FIA_PLAN_WORKSPACE_H_
#define FIA_PLAN_WORKSPACE_H_

#include "core/plan.h"

namespace fia {

// Counts and places all that phase two needs for the plan's works and workers. Throws std::bad_alloc for
// sizes that no memory has.
WorkspaceLayout LayOutWorkspace(const Plan& plan);

}  // namespace fia

#endif  // FIA_PLAN_WORKSPACE_H_
