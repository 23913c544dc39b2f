// Counts every heap allocation of this process. The whole program's malloc is replaced, so these tests have
// an executable of their own.
#ifndef FIA_TESTS_NO_MALLOC_COUNT_H_
#define FIA_TESTS_NO_MALLOC_COUNT_H_

#include <cstdint>

namespace fia::testing {

// False under a sanitizer, whose own malloc cannot be replaced.
bool CanCountAllocations();

// Allocations so far, on all threads.
std::int64_t Allocations();

}  // namespace fia::testing

#endif  // FIA_TESTS_NO_MALLOC_COUNT_H_
