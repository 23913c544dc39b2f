// How many threads calls may use: the program's number, the environment's, or the affinity mask's.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "fia/runtime.h"

namespace fia {
namespace {

std::atomic<int> requested_threads{0};

// FIA_NUM_THREADS as a positive number, else 0.
int ThreadsOfEnvironment() noexcept {
  const char* text = std::getenv("FIA_NUM_THREADS");
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  int threads = 0;
  const auto [stop, error] = std::from_chars(text, end, threads);
  return error == std::errc() && stop == end ? std::max(threads, 0) : 0;
}

// CPUs this process may run on, 1 if the system does not tell.
int CpusOfAffinityMask() noexcept {
  cpu_set_t mask[8];  // 8,192 CPUs: the most that Linux is built for
  CPU_ZERO_S(sizeof mask, mask);
  if (sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
  return std::max(CPU_COUNT_S(sizeof mask, mask), 1);
}

}  // namespace

void SetNumThreads(int threads) noexcept { requested_threads.store(threads, std::memory_order_relaxed); }

int NumThreads() noexcept {
  const int requested = requested_threads.load(std::memory_order_relaxed);
  if (requested > 0) return requested;
  const int environment = ThreadsOfEnvironment();
  return environment > 0 ? environment : CpusOfAffinityMask();
}

}  // namespace fia
