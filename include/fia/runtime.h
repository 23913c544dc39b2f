// What the library runs on: its version, the instruction set in use and the threads. All functions are thread
// safe.
#ifndef FIA_RUNTIME_H_
#define FIA_RUNTIME_H_

#include <cstdint>

namespace fia {

// The library's version, "major.minor.patch". Static storage.
const char* Version() noexcept;

// The name of the instruction set whose kernels run: "baseline", "avx2", "avx512", "avx512bf16" (AVX-512 with
// its dot product of bfloat16) or "neon"; "" when the environment's FIA_ISA asks for one that this CPU or
// build does not have (phase one then refuses every call). Chosen once per process, on first use: FIA_ISA if
// set, else the widest the CPU has. Static storage.
const char* ActiveIsa() noexcept;

// Sets how many threads calls planned from now on may use at most; 0 goes back to the default. The default is
// FIA_NUM_THREADS if it is a positive number, else the number of CPUs in the process's affinity mask.
// Calls already planned keep their number.
void SetNumThreads(int threads) noexcept;

// The number of threads that a call planned now may use at most, at least 1.
int NumThreads() noexcept;

// A caller's own way to run work in parallel, in place of the library's thread pool.
// `run(context, count, task, argument)` has to call task(argument, index) once for every index in 0..count-1,
// on any threads, at the same time or one after another, and return when all calls have returned.
struct ParallelFor {
  void (*run)(void* context, std::int64_t count, void (*task)(void* argument, std::int64_t index),
              void* argument) = nullptr;
  void* context = nullptr;
  int width = 1;  // how many tasks may be expected to run at the same time, at least 1
};

}  // namespace fia

#endif  // FIA_RUNTIME_H_
