// Runs numbered random calls against the reference and says how to replay a failure.
#ifndef FIA_TESTS_RANDOM_DIFFERENTIAL_H_
#define FIA_TESTS_RANDOM_DIFFERENTIAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "support/call_spec.h"

namespace fia::testing {

using CallMaker = CallSpec (*)(std::uint64_t seed, std::uint64_t index);

// Judges `count` calls of `make` (FIA_RANDOM_CALLS instead, if set) with the seed FIA_RANDOM_SEED; with
// FIA_RANDOM_CASE that one call only. Every call has to be accepted and right. Returns how many calls had
// each feature; empty when a single case was replayed.
std::map<std::string, int> RunRandomCalls(CallMaker make, std::uint64_t count);

// Each feature was met in at least that share of the calls. (Nothing is expected of an empty `seen`.)
void ExpectShares(const std::map<std::string, int>& seen, const std::map<std::string, double>& shares);

}  // namespace fia::testing

#endif  // FIA_TESTS_RANDOM_DIFFERENTIAL_H_
