// The library's threads.
#ifndef FIA_CPU_THREAD_POOL_H_
#define FIA_CPU_THREAD_POOL_H_

#include <cstdint>

namespace fia {

// Calls task(argument, index) once for each index in 0..count-1 and returns when all have returned. Up to
// `count` - 1 pool threads help; the caller takes indices too, all of them when the pool is busy or threads
// cannot be made. Never fails. No heap allocation but for making threads. Safe from any thread, after fork,
// and from within a task.
void RunInPool(std::int64_t count, void (*task)(void* argument, std::int64_t index), void* argument) noexcept;

}  // namespace fia

#endif  // FIA_CPU_THREAD_POOL_H_
