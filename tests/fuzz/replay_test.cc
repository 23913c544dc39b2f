// Fuzzed calls from seeded bytes, buffers between pages that may not be touched.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "fia/runtime.h"
#include "fuzz/run.h"
#include "support/rng.h"

// What sanitizers call before they end the process; null without one.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace fia::testing {
namespace {

constexpr std::uint64_t kDefaultSeed = 20260101;
constexpr std::uint64_t kCalls = 20000;
constexpr unsigned kLongestSeconds = 120;  // of one call, sanitized too
constexpr int kMostFailures = 10;

char replay_line[256];

void SayReplay() {
  const ssize_t written = write(STDERR_FILENO, replay_line, std::strlen(replay_line));
  static_cast<void>(written);
}

// A crash or a hang says which call it was.
void SayReplayAndEnd(int signal) {
  SayReplay();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void CatchEnds() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SayReplay);
  for (const int signal : {SIGALRM, SIGABRT}) std::signal(signal, SayReplayAndEnd);
  // A sanitizer has handlers of its own for these, which say more.
  if (__sanitizer_set_death_callback != nullptr) return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, SayReplayAndEnd);
}

std::optional<std::uint64_t> Number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

std::vector<std::uint8_t> Bytes(std::uint64_t seed, std::uint64_t index) {
  Rng rng(seed * 0x2545f4914f6cdd1du + index);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rng.Between(4, 120)));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.Bits() >> 40);
  return bytes;
}

TEST(Replay, SeededBytes) {
  const std::uint64_t seed = Number("FIA_FUZZ_SEED").value_or(kDefaultSeed);
  const std::optional<std::uint64_t> only = Number("FIA_FUZZ_CASE");
  const std::uint64_t first = only.value_or(0);
  const std::uint64_t end = only ? first + 1 : Number("FIA_FUZZ_CALLS").value_or(kCalls);
  std::cout << "seed " << seed << ", calls " << first << " to " << end << ", " << ActiveIsa() << std::endl;
  CatchEnds();
  int failures = 0;
  for (std::uint64_t index = first; index < end && failures < kMostFailures; ++index) {
    std::snprintf(replay_line, sizeof replay_line,
                  "replay: FIA_ISA=%s FIA_FUZZ_SEED=%llu FIA_FUZZ_CASE=%llu fia_test_fuzz\n", ActiveIsa(),
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(index));
    alarm(kLongestSeconds);
    const std::vector<std::uint8_t> bytes = Bytes(seed, index);
    const std::string fault =
        RunFuzzedCall(bytes.data(), bytes.size(), index % 2 == 0 ? Guard::kAfter : Guard::kBefore);
    EXPECT_EQ(fault, "") << replay_line;
    failures += fault.empty() ? 0 : 1;
  }
  alarm(0);
}

}  // namespace
}  // namespace fia::testing
