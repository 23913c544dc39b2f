// Running a call and holding its result against the reference.
#ifndef FIA_TESTS_SUPPORT_JUDGE_H_
#define FIA_TESTS_SUPPORT_JUDGE_H_

#include <gtest/gtest.h>

#include <vector>

#include "fia/attention.h"
#include "fia/reference.h"

namespace fia::testing {

// Overwrites every element of attention_out (and softmax_lse) so that one which is not written shows: NaN in
// floating-point types, 85 in int8.
void PoisonOutputs(const AttentionParams& params);

// Both phases, with a workspace of exactly the asked-for size between guard bytes. A change outside it is
// reported as kRuntimeError with rule "guard".
Status RunCall(const AttentionParams& params);

// Poisons the outputs, runs the call and judges `rows` (null: all) by the reference.
::testing::AssertionResult MatchesReference(const AttentionParams& params,
                                            const std::vector<RowIndex>* rows = nullptr);

// EXPECT_TRUE(MatchesReference(params)).
void ExpectMatchesReference(const AttentionParams& params);

// Phase one must refuse the call with that code and rule, and leave size 0 and an invalid executor.
::testing::AssertionResult IsRefused(const AttentionParams& params, StatusCode code, const char* rule);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_JUDGE_H_
