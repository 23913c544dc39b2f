// Ways to store, batch and run a call that must not change one bit of a sequence's result.
#ifndef FIA_TESTS_INVARIANCE_VARIANTS_H_
#define FIA_TESTS_INVARIANCE_VARIANTS_H_

#include <string>
#include <vector>

#include "support/call_spec.h"

namespace fia::testing {

// A variant of a call of one sequence; the sequence of interest has identity 0.
struct Variant {
  std::string name;
  CallSpec spec;
};

// Variants in threads, checks, lse, fill, views and lengths' forms; of any base call.
std::vector<Variant> RunVariants(const CallSpec& base);

// The sequence among 2, 16 and 44, at various places.
std::vector<Variant> BatchVariants(const CallSpec& base);

// Lists, paged caches of all forms and block sizes, prefixes cut off at several places, left padding. All
// keys of the base are common ones: those of a prefix belong to no sequence.
std::vector<Variant> StorageVariants(const CallSpec& base);

// Every layout.
std::vector<Variant> LayoutVariants(const CallSpec& base);

// Other words for the same attended keys.
std::vector<Variant> MaskVariants(const CallSpec& base);

// Runs base and variants: the bits of the sequence with identity 0 are the same in all.
void ExpectSameBits(const CallSpec& base, const std::vector<Variant>& variants);

}  // namespace fia::testing

#endif  // FIA_TESTS_INVARIANCE_VARIANTS_H_
