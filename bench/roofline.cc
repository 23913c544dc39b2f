// The picture: every case on the machine's roofline.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "fia/runtime.h"
#include "report.h"

namespace fia::bench {
namespace {

constexpr double kWidth = 960, kHeight = 600;
constexpr double kLeft = 84, kRight = 24, kTop = 64, kBottom = 64;
constexpr const char* kDecodeColour = "#1f6fb4";
constexpr const char* kPrefillColour = "#d1632a";

// A logarithmic axis: values to pixels.
struct Axis {
  double low, high;   // powers of ten
  double start, end;  // pixels
  double At(double value) const { return start + (std::log10(value) - low) / (high - low) * (end - start); }
};

class Picture {
 public:
  void Add(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_ += line;
    text_ += '\n';
  }
  std::string Take() { return text_; }

 private:
  std::string text_;
};

std::string PowerLabel(int power) {
  char label[32];
  if (power >= 0 && power <= 3) {
    std::snprintf(label, sizeof label, "%d", static_cast<int>(std::lround(std::pow(10, power))));
  } else if (power < 0) {
    std::snprintf(label, sizeof label, "%.*f", -power, std::pow(10, power));
  } else {
    std::snprintf(label, sizeof label, "%d k", static_cast<int>(std::lround(std::pow(10, power - 3))));
  }
  return label;
}

void DrawAxes(Picture* picture, const Axis& x, const Axis& y) {
  for (int power = static_cast<int>(x.low); power <= static_cast<int>(x.high); ++power) {
    const double at = x.At(std::pow(10, power));
    picture->Add("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#e3e3e3'/>", at, y.start, at, y.end);
    picture->Add("<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>", at, y.start + 20,
                 PowerLabel(power).c_str());
  }
  for (int power = static_cast<int>(y.low); power <= static_cast<int>(y.high); ++power) {
    const double at = y.At(std::pow(10, power));
    picture->Add("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#e3e3e3'/>", x.start, at, x.end, at);
    picture->Add("<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>", x.start - 8, at + 4,
                 PowerLabel(power).c_str());
  }
  picture->Add("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='none' stroke='#444'/>", x.start,
               y.end, x.end - x.start, y.start - y.end);
  picture->Add(
      "<text x='%.1f' y='%.1f' text-anchor='middle'>arithmetic intensity (FLOP for each byte of KV cache "
      "read once)</text>",
      (x.start + x.end) / 2, y.start + 46);
  picture->Add(
      "<text transform='translate(24 %.1f) rotate(-90)' text-anchor='middle'>attended work (GFLOP/s)</text>",
      (y.start + y.end) / 2);
}

// The memory slope up to where it meets the arithmetic ceiling, then the ceiling.
void DrawRoof(Picture* picture, const Axis& x, const Axis& y, double read_rate, double flop_rate,
              const char* style, const char* label) {
  const double low = std::pow(10, x.low), high = std::pow(10, x.high);
  const double ridge = flop_rate / read_rate;
  const double first = std::max(low, std::pow(10, y.low) * 1e9 / read_rate);
  picture->Add("<polyline fill='none' stroke='#444' %s points='%.1f,%.1f %.1f,%.1f %.1f,%.1f'/>", style,
               x.At(first), y.At(first * read_rate / 1e9), x.At(ridge), y.At(flop_rate / 1e9), x.At(high),
               y.At(flop_rate / 1e9));
  picture->Add("<text x='%.1f' y='%.1f' text-anchor='end' fill='#444'>%s</text>", x.end - 6,
               y.At(flop_rate / 1e9) - 5, label);
}

void DrawCases(Picture* picture, const Axis& x, const Axis& y, const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (!result.refusal.empty() || result.one.timed != Timed::kExecute) continue;
    const double intensity = result.one.Flops() / static_cast<double>(result.one.KvBytes());
    const char* colour = result.one.decode() ? kDecodeColour : kPrefillColour;
    const char* fill = result.one.threads == 1 ? "none" : colour;
    picture->Add(
        "<circle cx='%.1f' cy='%.1f' r='4.5' fill='%s' fill-opacity='0.65' stroke='%s' stroke-width='1.6'>",
        x.At(intensity), y.At(result.FlopRate() / 1e9), fill, colour);
    picture->Add("<title>%s: %.1f GFLOP/s, %.0f %% of the limit</title></circle>", result.one.Name().c_str(),
                 result.FlopRate() / 1e9, 100 * result.limit_seconds / result.seconds);
  }
}

void DrawLegend(Picture* picture, const Axis& x, const Axis& y, int most_threads) {
  struct Entry {
    const char* colour;
    bool filled;
    const char* phase;
    int threads;
  };
  const Entry entries[] = {{kDecodeColour, false, "decode", 1},
                           {kDecodeColour, true, "decode", most_threads},
                           {kPrefillColour, false, "prefill", 1},
                           {kPrefillColour, true, "prefill", most_threads}};
  double at = y.end + 20;
  for (const Entry& entry : entries) {
    if (entry.filled && most_threads == 1) continue;
    picture->Add(
        "<circle cx='%.1f' cy='%.1f' r='4.5' fill='%s' fill-opacity='0.65' stroke='%s' stroke-width='1.6'/>",
        x.start + 18, at - 4, entry.filled ? entry.colour : "none", entry.colour);
    picture->Add("<text x='%.1f' y='%.1f'>%s, %d thread%s</text>", x.start + 30, at, entry.phase,
                 entry.threads, entry.threads == 1 ? "" : "s");
    at += 19;
  }
}

}  // namespace

std::string Roofline(const std::vector<Result>& results, const LimitsByThreads& limits) {
  const Axis x{-1, 5, kLeft, kWidth - kRight};
  const Axis y{0, 4, kHeight - kBottom, kTop};
  Picture picture;
  picture.Add(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' font-family='Helvetica, Arial, "
      "sans-serif' font-size='13'>",
      kWidth, kHeight);
  picture.Add("<rect width='%.0f' height='%.0f' fill='white'/>", kWidth, kHeight);
  picture.Add(
      "<text x='%.1f' y='28' font-size='17'>fia: decode and prefill attention on the roofline (%s)</text>",
      kLeft, ActiveIsa());
  picture.Add(
      "<text x='%.1f' y='48' fill='#666'>each circle is a case whose result was checked; limits measured in "
      "the same run</text>",
      kLeft);
  DrawAxes(&picture, x, y);
  const auto& [most_threads, most] = *limits.rbegin();
  const auto& [least_threads, least] = *limits.begin();
  char label[96];
  std::snprintf(label, sizeof label, "float32, %d thread%s", most_threads, most_threads == 1 ? "" : "s");
  DrawRoof(&picture, x, y, most.read_rate, most.fma_rate, "stroke-width='1.6'", label);
  if (most_threads != least_threads) {
    DrawRoof(&picture, x, y, least.read_rate, least.fma_rate, "stroke-width='1.2' stroke-dasharray='6 4'",
             "float32, 1 thread");
  }
  if (most.bf16_dot_rate > 0) {
    std::snprintf(label, sizeof label, "bf16 dot, %d thread%s", most_threads, most_threads == 1 ? "" : "s");
    DrawRoof(&picture, x, y, most.read_rate, most.bf16_dot_rate, "stroke-width='1.2' stroke-dasharray='2 3'",
             label);
  }
  DrawCases(&picture, x, y, results);
  DrawLegend(&picture, x, y, most_threads);
  picture.Add("</svg>");
  return picture.Take();
}

}  // namespace fia::bench
