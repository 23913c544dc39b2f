// What the benchmarks found, for people: a table and a picture.
#ifndef FIA_BENCH_REPORT_H_
#define FIA_BENCH_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "cases.h"
#include "machine.h"

namespace fia::bench {

struct Result {
  Case one;
  double seconds = 0;  // of one phase-two call
  double limit_seconds =
      0;  // the least this machine needs: the larger of reading the cache and of the arithmetic
  double eigen_seconds = 0;  // three-step Eigen attention; 0: no such case
  std::string refusal;       // why there is no time: skipped, refused or wrong

  double ReadRate() const { return static_cast<double>(one.KvBytes()) / seconds; }
  double FlopRate() const { return one.Flops() / seconds; }
};

// Limits for each number of threads that cases use.
using LimitsByThreads = std::map<int, Limits>;

// A decode block and a prefill block, one line a case.
std::string Table(const std::vector<Result>& results, const LimitsByThreads& limits);

// The roofline as SVG: operations for each byte of KV against GFLOP/s, both logarithmic, decode and prefill
// in two colours, the machine's limits for the most threads measured and for one.
std::string Roofline(const std::vector<Result>& results, const LimitsByThreads& limits);

}  // namespace fia::bench

#endif  // FIA_BENCH_REPORT_H_
