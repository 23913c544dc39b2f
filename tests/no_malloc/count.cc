#include "no_malloc/count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FIA_TEST_OWN_MALLOC 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define FIA_TEST_OWN_MALLOC 0
#endif
#ifndef FIA_TEST_OWN_MALLOC
#define FIA_TEST_OWN_MALLOC 1
#endif

namespace fia::testing {
namespace {

std::atomic<std::int64_t> allocations{0};

}  // namespace

bool CanCountAllocations() { return FIA_TEST_OWN_MALLOC == 1; }

std::int64_t Allocations() { return allocations.load(); }

}  // namespace fia::testing

#if FIA_TEST_OWN_MALLOC
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++fia::testing::allocations;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  ++fia::testing::allocations;
  return __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  ++fia::testing::allocations;
  return __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++fia::testing::allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++fia::testing::allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#endif
