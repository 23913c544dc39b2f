#include "cpu/isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fia {

// The kernels' entry points, one for each set that src/kernels builds.
#if defined(FIA_KERNELS_NEON)
namespace isa_neon {
const KernelTable& Table();
}
#endif
#if defined(FIA_KERNELS_BASELINE)
namespace isa_baseline {
const KernelTable& Table();
}
#endif
#if defined(FIA_KERNELS_AVX2)
namespace isa_avx2 {
const KernelTable& Table();
}
#endif
#if defined(FIA_KERNELS_AVX512)
namespace isa_avx512 {
const KernelTable& Table();
}
#endif
#if defined(FIA_KERNELS_AVX512BF16)
namespace isa_avx512bf16 {
const KernelTable& Table();
}
#endif

namespace {

struct Isa {
  const char* name;
  bool (*supported)();
  const KernelTable& (*table)();
};

[[maybe_unused]] bool Always() { return true; }

#if defined(__x86_64__)
// These ask the system as well: a CPU has no wide registers when the system does not save them.
[[maybe_unused]] bool HasAvx2() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool half_conversions = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  return half_conversions && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

[[maybe_unused]] bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

[[maybe_unused]] bool HasAvx512Bf16() { return HasAvx512() && __builtin_cpu_supports("avx512bf16"); }
#endif

// From the widest to the narrowest.
constexpr Isa kIsas[] = {
#if defined(FIA_KERNELS_NEON)
    {"neon", Always, isa_neon::Table},
#endif
#if defined(FIA_KERNELS_AVX512BF16)
    {"avx512bf16", HasAvx512Bf16, isa_avx512bf16::Table},
#endif
#if defined(FIA_KERNELS_AVX512)
    {"avx512", HasAvx512, isa_avx512::Table},
#endif
#if defined(FIA_KERNELS_AVX2)
    {"avx2", HasAvx2, isa_avx2::Table},
#endif
#if defined(FIA_KERNELS_BASELINE)
    {"baseline", Always, isa_baseline::Table},
#endif
};

struct Choice {
  const KernelTable* kernels = nullptr;
  char refused[64] = "";
};

Choice Choose() noexcept {
  Choice choice;
  const char* wanted = std::getenv("FIA_ISA");
  if (wanted != nullptr && *wanted != '\0') {
    choice.kernels = FindKernels(wanted);
    if (choice.kernels == nullptr) std::snprintf(choice.refused, sizeof choice.refused, "%s", wanted);
    return choice;
  }
  for (const Isa& isa : kIsas) {
    if (!isa.supported()) continue;
    choice.kernels = &isa.table();
    break;
  }
  return choice;
}

const Choice& TheChoice() noexcept {
  static const Choice choice = Choose();
  return choice;
}

}  // namespace

const KernelTable* FindKernels(const char* isa) noexcept {
  for (const Isa& candidate : kIsas) {
    if (std::strcmp(candidate.name, isa) == 0 && candidate.supported()) return &candidate.table();
  }
  return nullptr;
}

const KernelTable* ActiveKernels() noexcept { return TheChoice().kernels; }

const char* RefusedIsa() noexcept { return TheChoice().refused; }

}  // namespace fia
