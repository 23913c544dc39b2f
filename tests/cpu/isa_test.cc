// Which kernels run, and FIA_ISA. The choice is made once in a process, so each one is made in a child.
#include "cpu/isa.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "fia/runtime.h"

namespace fia::testing {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "avx512bf16", "neon"};

// Exit code 0 of a child in which FIA_ISA is `wanted` (null: not set) and `holds` is true.
bool InChild(const char* wanted, bool (*holds)(const char* wanted)) {
  const pid_t child = fork();
  if (child == 0) {
    if (wanted == nullptr) {
      unsetenv("FIA_ISA");
    } else {
      setenv("FIA_ISA", wanted, 1);
    }
    _exit(holds(wanted) ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Isa, TablesSayWhoseTheyAre) {
  int found = 0;
  for (const char* name : kNames) {
    const KernelTable* kernels = FindKernels(name);
    if (kernels == nullptr) continue;
    ++found;
    EXPECT_STREQ(kernels->isa, name);
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(FindKernels("sse9"), nullptr);
  EXPECT_EQ(FindKernels(""), nullptr);
}

// Without a body the planner takes the float32 one: every set has those, and all element types of them.
TEST(Isa, TablesHoldTheFloat32Bodies) {
  for (const char* name : kNames) {
    const KernelTable* kernels = FindKernels(name);
    if (kernels == nullptr) continue;
    for (const Body body : {Body::kFewRows, Body::kManyRows}) {
      for (const auto tile : kernels->tile[static_cast<int>(body)]) EXPECT_NE(tile, nullptr) << name;
    }
    const bool narrow = std::strcmp(name, "avx512bf16") == 0;
    for (const Body body : {Body::kBfloat16Scores, Body::kBfloat16}) {
      for (int kv = 0; kv < kKvTypeCount; ++kv) {
        const bool has = narrow && static_cast<KvType>(kv) == KvType::kBfloat16;
        EXPECT_EQ(kernels->tile[static_cast<int>(body)][kv] != nullptr, has) << name << " " << kv;
      }
    }
  }
}

TEST(Isa, TheEnvironmentForcesOneThatTheCpuHas) {
  const auto holds = [](const char* wanted) {
    return ActiveKernels() == FindKernels(wanted) && std::strcmp(ActiveIsa(), wanted) == 0 &&
           *RefusedIsa() == '\0';
  };
  for (const char* name : kNames) {
    EXPECT_TRUE(FindKernels(name) == nullptr || InChild(name, holds)) << name;
  }
}

TEST(Isa, TheEnvironmentsUnknownSetIsRefused) {
  const auto holds = [](const char* wanted) {
    return ActiveKernels() == nullptr && std::strcmp(RefusedIsa(), wanted) == 0 && *ActiveIsa() == '\0';
  };
  EXPECT_TRUE(InChild("sse9", holds));
}

TEST(Isa, WithoutTheEnvironmentTheWidestIsChosen) {
  const auto holds = [](const char*) {
    for (const char* name : {"avx512bf16", "avx512", "avx2", "baseline"}) {
      if (FindKernels(name) != nullptr) return ActiveKernels() == FindKernels(name);
    }
    return ActiveKernels() == FindKernels("neon");
  };
  EXPECT_TRUE(InChild(nullptr, holds));
  EXPECT_TRUE(InChild("", holds));
}

}  // namespace
}  // namespace fia::testing
