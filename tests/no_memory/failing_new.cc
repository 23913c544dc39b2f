#include "no_memory/failing_new.h"

#include <cstdlib>
#include <new>

namespace fia::testing {
namespace {

thread_local bool armed = false;
thread_local std::int64_t left = 0;
thread_local std::int64_t failed = 0;

void* AllocateOrFail(std::size_t size) {
  if (armed && --left < 0) {
    ++failed;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

FailingNew::FailingNew(std::int64_t allowed) noexcept {
  left = allowed;
  failed = 0;
  armed = true;
}

FailingNew::~FailingNew() { armed = false; }

std::int64_t FailingNew::failures() const noexcept { return failed; }

}  // namespace fia::testing

void* operator new(std::size_t size) { return fia::testing::AllocateOrFail(size); }
void* operator new[](std::size_t size) { return fia::testing::AllocateOrFail(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
