#include "no_memory/failing_new.h"

#include <cstdlib>
#include <new>

namespace fia::testing {
namespace {

thread_local bool armed = false;
thread_local std::int64_t left = 0;
thread_local std::int64_t failed = 0;

void* AllocateOrNull(std::size_t size) noexcept {
  if (armed && --left < 0) {
    ++failed;
    return nullptr;
  }
  return std::malloc(size == 0 ? 1 : size);
}

void* AllocateOrFail(std::size_t size) {
  if (void* memory = AllocateOrNull(size)) return memory;
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
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fia::testing::AllocateOrNull(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return fia::testing::AllocateOrNull(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
