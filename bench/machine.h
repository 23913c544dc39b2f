// What this machine can do, measured in the run it is compared with.
#ifndef FIA_BENCH_MACHINE_H_
#define FIA_BENCH_MACHINE_H_

namespace fia::bench {

struct Limits {
  double read_rate = 0;      // bytes a second that all threads together read from DRAM
  double fma_rate = 0;       // float32 operations a second, a fused multiply-add counting two
  double bf16_dot_rate = 0;  // the same for bf16 dot-product instructions; 0 if the CPU has none
};

// Measures (best of several rounds, a few hundred milliseconds) with that many threads at the same time.
Limits MeasureLimits(int threads);

}  // namespace fia::bench

#endif  // FIA_BENCH_MACHINE_H_
