// The valid calls that fuzzing starts from.
#ifndef FIA_TESTS_FUZZ_BASE_CALL_H_
#define FIA_TESTS_FUZZ_BASE_CALL_H_

#include "fuzz/cursor.h"
#include "support/call_spec.h"

namespace fia::testing {

// One of the random calls, its lengths cut down to what takes a moment.
CallSpec ChooseBase(Cursor* cursor, Guard guard);

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_BASE_CALL_H_
