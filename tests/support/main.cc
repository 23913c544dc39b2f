// The main function of all test programs. FIA_ISA in the environment makes it prove that this instruction set
// is the one that runs, or tell CTest to count the run as skipped when this CPU lacks it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fia/runtime.h"

namespace {

constexpr int kSkipped = 77;  // tests/CMakeLists.txt

enum class Support { kHas, kLacks, kUnknownName };

// What the compiler's own look at this CPU says, to judge the library's.
Support CpuSupport(const std::string& isa) {
  bool has = false;
#if defined(__x86_64__)
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (isa == "baseline") {
    has = true;
  } else if (isa == "avx2") {
    has = avx2;
  } else if (isa == "avx512") {
    has = avx512;
  } else if (isa == "avx512bf16") {
    has = avx512 && __builtin_cpu_supports("avx512bf16");
  } else {
    return Support::kUnknownName;
  }
#elif defined(__aarch64__)
  if (isa != "neon") return Support::kUnknownName;
  has = true;
#else
  if (isa != "baseline") return Support::kUnknownName;
  has = true;
#endif
  return has ? Support::kHas : Support::kLacks;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* wanted = std::getenv("FIA_ISA");
  if (wanted != nullptr) {
    const Support support = CpuSupport(wanted);
    if (support == Support::kLacks) {
      std::printf("skipped: this CPU has no %s\n", wanted);
      return kSkipped;
    }
    if (support == Support::kHas && wanted != std::string(fia::ActiveIsa())) {
      std::printf("FIA_ISA=%s, but \"%s\" runs\n", wanted, fia::ActiveIsa());
      return EXIT_FAILURE;
    }
    std::printf("instruction set: %s\n", fia::ActiveIsa());
  }
  return RUN_ALL_TESTS();
}
