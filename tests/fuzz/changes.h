// Changes of a call's arguments: shapes, types, attributes, arrays, presence.
#ifndef FIA_TESTS_FUZZ_CHANGES_H_
#define FIA_TESTS_FUZZ_CHANGES_H_

#include "fia/attention.h"
#include "fuzz/cursor.h"

namespace fia::testing {

// One change, decoded from the cursor. Addresses are left as they are.
void ChangeParams(Cursor* cursor, AttentionParams* params);

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_CHANGES_H_
