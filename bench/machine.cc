// Built for the machine at hand (-march=native): the peaks are those of its widest vectors.
#include "machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace fia::bench {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kChains = 24;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
constexpr int kChains = 12;
#else
constexpr int kVectorBytes = 16;
constexpr int kChains = 12;
#endif
using Vector = float __attribute__((vector_size(kVectorBytes)));
constexpr int kLanes = kVectorBytes / 4;

// Best operations a second over rounds in which all threads run `work` (which returns its operation count) at
// the same time.
template <typename Work>
double BestRate(int threads, int rounds, const Work& work) {
  std::barrier gate(threads);
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::vector<double> amounts(static_cast<std::size_t>(threads));
  double best = 0;
  const auto run = [&](int index) {
    for (int round = 0; round < rounds; ++round) {
      gate.arrive_and_wait();
      const auto start = Clock::now();
      amounts[static_cast<std::size_t>(index)] = work(index);
      seconds[static_cast<std::size_t>(index)] = std::chrono::duration<double>(Clock::now() - start).count();
      gate.arrive_and_wait();
      if (index == 0) {
        double total = 0;
        for (double amount : amounts) total += amount;
        best = std::max(best, total / *std::max_element(seconds.begin(), seconds.end()));
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int index = 1; index < threads; ++index) helpers.emplace_back(run, index);
  run(0);
  for (std::thread& helper : helpers) helper.join();
  return best;
}

void Keep(const void* data) { asm volatile("" : : "g"(data) : "memory"); }

double FmaWork() {
  constexpr std::int64_t kSteps = 400000;
  Vector sums[kChains];
  std::memset(sums, 0, sizeof sums);
  Vector a = {}, b = {};
  a += 0.999f;
  b += 1e-3f;
  asm volatile("" : "+x"(a), "+x"(b));  // the compiler may not know the values, nor that chains are alike
  for (Vector& sum : sums) asm volatile("" : "+x"(sum));
  for (std::int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * a + b;
  }
  Keep(sums);
  return 2.0 * kLanes * kChains * static_cast<double>(kSteps);
}

#if defined(__AVX512BF16__)
double Bf16DotWork() {
  constexpr std::int64_t kSteps = 400000;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512i a = _mm512_set1_epi16(0x3f80), b = _mm512_set1_epi16(0x3f00);
  asm volatile("" : "+x"(a), "+x"(b));
  for (__m512& sum : sums) asm volatile("" : "+x"(sum));
  for (std::int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int chain = 0; chain < kChains; ++chain) {
      sums[chain] =
          _mm512_dpbf16_ps(sums[chain], reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    }
  }
  Keep(sums);
  return 4.0 * kLanes * kChains * static_cast<double>(kSteps);
}
#endif

// Reads `bytes` in several streams, the way that the hardware prefetchers like best.
double ReadWork(const std::uint8_t* data, std::int64_t bytes) {
  constexpr int kStreams = 4;
  constexpr std::int64_t kAhead = 4096;
  const std::int64_t part = bytes / kStreams / 256 * 256;
  Vector sums[kStreams] = {};
  for (std::int64_t at = 0; at < part; at += 256) {
    for (int stream = 0; stream < kStreams; ++stream) {
      const std::uint8_t* from = data + stream * part + at;
      for (int line = 0; line < 4; ++line) __builtin_prefetch(from + kAhead + line * 64);
      for (int piece = 0; piece < 256 / kVectorBytes; ++piece) {
        sums[stream] += *reinterpret_cast<const Vector*>(from + piece * kVectorBytes);
      }
    }
  }
  Keep(sums);
  return static_cast<double>(part * kStreams);
}

}  // namespace

Limits MeasureLimits(int threads) {
  Limits limits;
  limits.fma_rate = BestRate(threads, 9, [](int) { return FmaWork(); });
#if defined(__AVX512BF16__)
  limits.bf16_dot_rate = BestRate(threads, 9, [](int) { return Bf16DotWork(); });
#endif
  constexpr std::int64_t kBytes = std::int64_t{768} << 20;  // past any cache
  struct Release {
    void operator()(void* memory) const { std::free(memory); }
  };
  const std::unique_ptr<std::uint8_t, Release> memory(
      static_cast<std::uint8_t*>(std::aligned_alloc(4096, kBytes + 65536)));
  std::memset(memory.get(), 0, kBytes + 65536);
  const std::int64_t share = kBytes / threads / 4096 * 4096;
  limits.read_rate =
      BestRate(threads, 7, [&](int index) { return ReadWork(memory.get() + index * share, share); });
  return limits;
}

}  // namespace fia::bench
