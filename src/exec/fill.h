// Output rows that no key reaches: 0 and lse +inf.
#ifndef FIA_EXEC_FILL_H_
#define FIA_EXEC_FILL_H_

#include <cstdint>

#include "exec/context.h"

namespace fia {

// Runs fill item `index`, 0 <= index < plan.fill_count.
void RunFill(const RunContext& context, std::int64_t index) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_FILL_H_
