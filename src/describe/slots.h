// Which addresses phase two will use.
#ifndef FIA_DESCRIBE_SLOTS_H_
#define FIA_DESCRIBE_SLOTS_H_

#include "core/problem.h"

namespace fia {

// Fills problem->used_slots from everything else in *problem: the tensors that are read or written. Inputs
// that no query position of any sequence needs are left out, list member by list member.
void ListUsedSlots(Problem* problem);

}  // namespace fia

#endif  // FIA_DESCRIBE_SLOTS_H_
