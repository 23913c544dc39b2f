// Random calls over everything the rules of phase one accept: layouts, storage, masks, lengths and features
// in every combination. Sizes are small but cross tile and chunk borders now and then.
#ifndef FIA_TESTS_SUPPORT_RANDOM_CALL_H_
#define FIA_TESTS_SUPPORT_RANDOM_CALL_H_

#include <cstdint>

#include "support/call_spec.h"
#include "support/rng.h"

namespace fia::testing {

// An accepted call without quantisation; the same for the same numbers.
CallSpec RandomCall(std::uint64_t seed, std::uint64_t index);

// An accepted call with a quantised cache, query or output.
CallSpec RandomQuantisedCall(std::uint64_t seed, std::uint64_t index);

// Steps both generators share. `rows` and `keys` bound the lengths.
struct LengthBounds {
  std::int64_t most_rows = 40;
  std::int64_t most_keys = 300;
  bool empty = true;  // lengths may be 0
};
Rng CallRng(std::uint64_t seed, std::uint64_t index);
std::int64_t Pick(Rng* rng, std::initializer_list<std::int64_t> values);
void ChooseLengths(Rng* rng, const LengthBounds& bounds, CallSpec* spec);
void ChooseLengthForms(Rng* rng, CallSpec* spec);
void ChooseViews(Rng* rng, CallSpec* spec);
void ChooseFullMaskShape(Rng* rng, CallSpec* spec);
void ChooseBand(Rng* rng, CallSpec* spec);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_RANDOM_CALL_H_
