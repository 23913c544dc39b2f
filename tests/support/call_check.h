// Building a call, running it and holding it against the reference, in one step.
#ifndef FIA_TESTS_SUPPORT_CALL_CHECK_H_
#define FIA_TESTS_SUPPORT_CALL_CHECK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fia/reference.h"
#include "support/call_builder.h"
#include "support/call_spec.h"

namespace fia::testing {

// Every row when the reference can do them in a moment, else the first and last of each sequence and a random
// choice between. `budget`: multiply-adds that a moment has.
constexpr std::int64_t kReferenceBudget = 6'000'000;
std::vector<RowIndex> RowsToJudge(const CallSpec& spec, std::int64_t budget = kReferenceBudget);

// The call's result is right in every element of the judged rows, and nothing outside the output views has
// changed. Says what the call was.
::testing::AssertionResult CallMatches(const CallSpec& spec);
::testing::AssertionResult CallMatches(const BuiltCall& call, std::int64_t budget = kReferenceBudget);

// The bytes of all valid rows (and lse) of the call; a failure of the call fails the test and gives none.
std::vector<std::vector<std::uint8_t>> RunBits(const CallSpec& spec);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_CHECK_H_
