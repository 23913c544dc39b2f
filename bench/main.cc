// The main job: attention on real model shapes, decode beside prefill, every result checked before it is
// timed.
//
//   fia_bench [--full] [--out=FOLDER] [Google Benchmark's options]
//
// Writes FOLDER/fia_bench.json and FOLDER/fia_bench.svg and prints a table.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fia/runtime.h"
#include "report.h"
#include "workload.h"

namespace fia::bench {
namespace {

constexpr std::int64_t kMostKvBytes = std::int64_t{2} << 30;

struct Options {
  bool full = false;
  std::string out = ".";
  std::vector<char*> rest;  // Google Benchmark's
};

Options ParseOptions(int count, char** values) {
  Options options;
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(values[i], "--full") == 0) {
      options.full = true;
    } else if (std::strncmp(values[i], "--out=", 6) == 0) {
      options.out = values[i] + 6;
    } else {
      options.rest.push_back(values[i]);
    }
  }
  return options;
}

// Products that take bfloat16 as it is stored run at the rate of the dot instruction: q . k always, p . v
// where p may be narrowed.
double LimitSeconds(const Case& one, const Limits& limits) {
  const bool dots = one.query_dtype == DataType::kBfloat16 && one.kv_dtype == DataType::kBfloat16 &&
                    limits.bf16_dot_rate > 0;
  const double dot_rate = dots ? limits.bf16_dot_rate : limits.fma_rate;
  const double value_rate = one.inner_precise == 1 ? dot_rate : limits.fma_rate;
  const double arithmetic = one.ScoreFlops() / dot_rate + one.ValueFlops() / value_rate;
  return std::max(arithmetic, static_cast<double>(one.KvBytes()) / limits.read_rate);
}

// Google Benchmark calls a case several times to find the number of iterations: its buffers, its check and
// its yardstick are made once and kept until the next case.
class Runner {
 public:
  void Run(benchmark::State& state, const Limits& limits, Result* result) {
    if (current_ != result) Prepare(limits, result);
    if (!result->refusal.empty()) {
      state.SkipWithError(result->refusal.c_str());
      return;
    }
    for (auto _ : state) workload_->RunTimed();
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["flop_per_second"] = benchmark::Counter(result->one.Flops(), rate);
    state.counters["kv_bytes_per_second"] =
        benchmark::Counter(static_cast<double>(result->one.KvBytes()), rate);
    state.counters["limit_seconds"] = result->limit_seconds;
    state.counters["eigen_seconds"] = result->eigen_seconds;
    state.counters["workspace_bytes"] = static_cast<double>(workload_->workspace_bytes());
  }

 private:
  void Prepare(const Limits& limits, Result* result) {
    current_ = result;
    workload_.reset();
    result->limit_seconds = LimitSeconds(result->one, limits);
    if (result->one.KvBytes() > kMostKvBytes) {
      result->refusal = "skipped: more than 2 GiB of KV cache";
      return;
    }
    workload_ = std::make_unique<Workload>(result->one);
    result->refusal = workload_->Plan();
    if (result->refusal.empty()) result->refusal = workload_->RunFirst();
    if (result->refusal.empty()) result->refusal = workload_->Verify();
    if (result->refusal.empty()) result->eigen_seconds = workload_->MeasureEigen();
  }

  const Result* current_ = nullptr;
  std::unique_ptr<Workload> workload_;
};

// Prints a line when a case is done and takes its median time.
class Progress : public benchmark::BenchmarkReporter {
 public:
  explicit Progress(std::vector<Result>* results) : results_(results) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Aggregate || run.aggregate_name != "median") continue;
      const double seconds = run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
      const std::string name = run.run_name.function_name;
      std::printf("%-64s %12.1f us\n", name.c_str(), seconds * 1e6);
      std::fflush(stdout);
      for (Result& result : *results_) {
        if (result.one.Name() == name) result.seconds = seconds;
      }
    }
  }

 private:
  std::vector<Result>* results_;
};

int Main(int argument_count, char** argument_values) {
  Options options = ParseOptions(argument_count, argument_values);
  std::string json = "--benchmark_out=" + options.out + "/fia_bench.json";
  options.rest.insert(options.rest.begin() + 1, json.data());
  int rest_count = static_cast<int>(options.rest.size());
  benchmark::Initialize(&rest_count, options.rest.data());
  const int all_threads = NumThreads();
  LimitsByThreads limits;
  std::vector<Result> results;
  for (const Case& one : AllCases(all_threads)) {
    if (!one.quick && !options.full) continue;
    if (limits.count(one.threads) == 0) limits[one.threads] = MeasureLimits(one.threads);
    results.emplace_back().one = one;
  }
  Runner runner;
  for (Result& result : results) {
    const Limits& limit = limits[result.one.threads];
    benchmark::RegisterBenchmark(result.one.Name().c_str(),
                                 [&](benchmark::State& state) { runner.Run(state, limit, &result); })
        ->UseRealTime()
        ->MinTime(0.1)
        ->Repetitions(5);
  }
  Progress progress(&results);
  benchmark::RunSpecifiedBenchmarks(&progress);
  results.erase(
      std::remove_if(results.begin(), results.end(),
                     [](const Result& result) { return result.seconds == 0 && result.refusal.empty(); }),
      results.end());
  std::fputs(Table(results, limits).c_str(), stdout);
  const std::string picture = options.out + "/fia_bench.svg";
  std::ofstream(picture) << Roofline(results, limits);
  std::printf("\nwritten: %s/fia_bench.json, %s\n", options.out.c_str(), picture.c_str());
  const bool wrong = std::any_of(results.begin(), results.end(), [](const Result& result) {
    return !result.refusal.empty() && result.refusal.rfind("skipped", 0) != 0;
  });
  return wrong ? 1 : 0;
}

}  // namespace
}  // namespace fia::bench

int main(int argument_count, char** argument_values) {
  return fia::bench::Main(argument_count, argument_values);
}
