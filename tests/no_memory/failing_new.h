// An operator new of the test program that fails when told to.
#ifndef FIA_TESTS_NO_MEMORY_FAILING_NEW_H_
#define FIA_TESTS_NO_MEMORY_FAILING_NEW_H_

#include <cstdint>

namespace fia::testing {

// While it lives, this thread's first `allowed` allocations succeed and all later ones throw std::bad_alloc.
class FailingNew {
 public:
  explicit FailingNew(std::int64_t allowed) noexcept;
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  // Allocations that failed so far.
  std::int64_t failures() const noexcept;
};

}  // namespace fia::testing

#endif  // FIA_TESTS_NO_MEMORY_FAILING_NEW_H_
