#include "report.h"

#include <cstdarg>
#include <cstdio>

#include "fia/runtime.h"

namespace fia::bench {
namespace {

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string Format(const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

std::string Time(double seconds) {
  if (seconds < 1e-3) return Format("%.1f us", seconds * 1e6);
  return Format("%.2f ms", seconds * 1e3);
}

std::string Line(const Result& result) {
  const std::string name = result.one.Name();
  if (!result.refusal.empty()) return Format("%-58s ", name.c_str()) + result.refusal + "\n";
  if (result.one.timed != Timed::kExecute)
    return Format("%-58s %10s\n", name.c_str(), Time(result.seconds).c_str());
  const std::string eigen =
      result.eigen_seconds > 0 ? Format("%6.1fx", result.eigen_seconds / result.seconds) : "      -";
  return Format("%-58s %10s %9.1f %8.1f %6.0f%% %s\n", name.c_str(), Time(result.seconds).c_str(),
                result.FlopRate() / 1e9, result.ReadRate() / 1e9, 100 * result.limit_seconds / result.seconds,
                eigen.c_str());
}

template <typename Belongs>
std::string Block(const char* title, const std::vector<Result>& results, Belongs belongs) {
  std::string text =
      Format("\n%-58s %10s %9s %8s %7s %7s\n", title, "time", "GFLOP/s", "KV GB/s", "limit", "Eigen");
  for (const Result& result : results) {
    if (belongs(result.one)) text += Line(result);
  }
  return text;
}

}  // namespace

std::string Table(const std::vector<Result>& results, const LimitsByThreads& limits) {
  std::string text = Format("\ninstruction set %s\n", ActiveIsa());
  for (const auto& [threads, limit] : limits) {
    text += Format("%d thread%s: reads %.1f GB/s, float32 FMA %.0f GFLOP/s, bf16 dot %.0f GFLOP/s\n", threads,
                   threads == 1 ? "" : "s", limit.read_rate / 1e9, limit.fma_rate / 1e9,
                   limit.bf16_dot_rate / 1e9);
  }
  const auto executes = [](const Case& one) { return one.timed == Timed::kExecute; };
  text += Block("decode", results, [&](const Case& one) { return executes(one) && one.decode(); });
  text += Block("prefill", results, [&](const Case& one) { return executes(one) && !one.decode(); });
  text += Block("phase one, and whole calls", results, [&](const Case& one) { return !executes(one); });
  text +=
      "\nlimit: the time this machine needs at least (reading the cache once, or the arithmetic of attended "
      "pairs at the\n"
      "rates above, whichever is longer; bfloat16 by dot products wherever they may serve) as a share of the "
      "time taken.\n"
      "Eigen: how many times faster than attention in three steps with Eigen's matrix product. Phase one "
      "checks and plans\n"
      "a call; a whole call is both phases.\n";
  return text;
}

}  // namespace fia::bench
