// Version, instruction set, the number of threads and what Explain says of a plan.
#include "fia/runtime.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "fia/attention.h"
#include "support/call_builder.h"

namespace fia::testing {
namespace {

// FIA_NUM_THREADS and SetNumThreads as they were before, once the test is over.
class NumThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* text = std::getenv("FIA_NUM_THREADS");
    had_ = text != nullptr;
    if (had_) before_ = text;
  }

  void TearDown() override {
    SetNumThreads(0);
    if (had_) {
      setenv("FIA_NUM_THREADS", before_.c_str(), 1);
    } else {
      unsetenv("FIA_NUM_THREADS");
    }
  }

  static int CpusOfMask() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    return CPU_COUNT(&mask);
  }

  static int ThreadsWith(const char* environment) {
    setenv("FIA_NUM_THREADS", environment, 1);
    return NumThreads();
  }

  bool had_ = false;
  std::string before_;
};

TEST_F(NumThreadsTest, ProgramThenEnvironmentThenAffinityMask) {
  unsetenv("FIA_NUM_THREADS");
  EXPECT_EQ(NumThreads(), CpusOfMask());
  EXPECT_EQ(ThreadsWith("7"), 7);
  SetNumThreads(5);
  EXPECT_EQ(NumThreads(), 5);
  SetNumThreads(0);
  EXPECT_EQ(NumThreads(), 7);
  SetNumThreads(-3);
  EXPECT_EQ(NumThreads(), 7);
}

TEST_F(NumThreadsTest, AnEnvironmentThatIsNoPositiveNumberIsNotLookedAt) {
  const int cpus = CpusOfMask();
  for (const char* text : {"", "0", "-4", "two", "3x", " 3", "99999999999999999999"}) {
    EXPECT_EQ(ThreadsWith(text), cpus) << '"' << text << '"';
  }
}

TEST_F(NumThreadsTest, FollowsTheAffinityMask) {
  unsetenv("FIA_NUM_THREADS");
  cpu_set_t before, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&first);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &first);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  EXPECT_EQ(NumThreads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(NumThreads(), CPU_COUNT(&before));
}

// The number after `name` in what Explain says, -1 if there is none.
long NumberAfter(const std::string& text, const std::string& name) {
  std::smatch match;
  const bool found = std::regex_search(text, match, std::regex(name + " (\\d+)"));
  return found ? std::stol(match[1]) : -1;
}

std::string Explained(const AttentionParams& params) {
  std::uint64_t size = 0;
  Executor executor;
  const Status status = GetWorkspaceSize(params, &size, &executor);
  EXPECT_TRUE(status.ok()) << status.message;
  std::string text = Explain(executor);
  EXPECT_EQ(NumberAfter(text, "total"), static_cast<long>(size)) << text;
  return text;
}

void RunSerially(void*, std::int64_t count, void (*task)(void*, std::int64_t), void* argument) {
  for (std::int64_t index = 0; index < count; ++index) task(argument, index);
}

TEST_F(NumThreadsTest, PlansUseTheCallsNumberElseTheCallersWidthElseTheLibrarys) {
  CallSpec spec;
  spec.num_heads = 16;
  spec.num_kv_heads = 16;
  spec.query_lengths = {1, 1, 1, 1};
  spec.kv_lengths = {500, 500, 500, 500};
  spec.threads = 0;
  BuiltCall call(spec);
  Execution& execution = call.mutable_params()->execution;
  SetNumThreads(6);
  EXPECT_EQ(NumberAfter(Explained(call.params()), "at most"), 6);
  execution.parallel_for = ParallelFor{RunSerially, nullptr, 5};
  EXPECT_EQ(NumberAfter(Explained(call.params()), "at most"), 5);
  execution.parallel_for->width = -1;
  EXPECT_EQ(NumberAfter(Explained(call.params()), "at most"), 1);
  execution.parallel_for.reset();
  execution.num_threads = 3;
  EXPECT_EQ(NumberAfter(Explained(call.params()), "at most"), 3);
  execution.num_threads = 1000000;
  const std::string text = Explained(call.params());
  EXPECT_LE(NumberAfter(text, "at most"), NumberAfter(text, "compute") + NumberAfter(text, "fill"));
}

TEST_F(NumThreadsTest, AParallelForWithoutAFunctionIsNone) {
  BuiltCall call(CallSpec{});
  call.mutable_params()->execution.parallel_for = ParallelFor{};
  EXPECT_TRUE(call.Run().ok());
}

TEST(ExplainTest, SaysBodyTilesAndWorkspace) {
  CallSpec spec;
  spec.num_heads = 8;
  spec.query_lengths = {1, 60};
  spec.kv_lengths = {90, 33};
  const std::string text = Explained(BuiltCall(spec).params());
  EXPECT_NE(text.find(std::string("kernels: ") + ActiveIsa() + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("few rows: sequences 1, most keys 90"), std::string::npos) << text;
  EXPECT_NE(text.find("many rows: sequences 1, most keys 33"), std::string::npos) << text;
  EXPECT_NE(text.find("heads: query 8, kv 2, dim 64, value dim 64, rope dim 0"), std::string::npos) << text;
  EXPECT_GT(NumberAfter(text, "keys of a tile"), 0) << text;
  EXPECT_GT(NumberAfter(text, "each thread"), 0) << text;
}

TEST(ExplainTest, EmptyTensorsAndInvalidExecutors) {
  AttentionParams params;
  params.query = params.attention_out = TensorView::Contiguous(nullptr, DataType::kFloat16, {0, 1, 1, 16});
  params.key = params.value = {params.query};
  params.heads = {"BNSD", 1, 1};
  EXPECT_EQ(Explained(params).find("nothing to compute"), 0u);
  EXPECT_EQ(Explain(Executor()), "no plan: the executor is not valid\n");
}

// Which of a bfloat16 call's products take pairs shows where the instruction set has them.
TEST(ExplainTest, SaysWhatMultipliesPairs) {
  const bool narrow = std::string(ActiveIsa()) == "avx512bf16";
  CallSpec spec;
  spec.num_heads = 8;
  spec.query_lengths = {60};
  spec.kv_lengths = {33};
  const auto pairs = [&spec](const char* products) {
    return Explained(BuiltCall(spec).params()).find(products) != std::string::npos;
  };
  EXPECT_FALSE(pairs("pairs"));
  spec.dtype = spec.kv_dtype = spec.out_dtype = DataType::kBfloat16;
  EXPECT_EQ(pairs("q . k in bfloat16 pairs"), narrow);
  spec.inner_precise = 1;
  EXPECT_EQ(pairs("both products in bfloat16 pairs"), narrow);
  EXPECT_EQ(pairs("pairs"), narrow);
}

// Exits with 0 when phase one refuses the call because of FIA_ISA and says so.
[[noreturn]] void ExitRefusedByIsa(const AttentionParams& params) {
  std::uint64_t size = 77;
  Executor executor;
  const Status status = GetWorkspaceSize(params, &size, &executor);
  const bool refused = status.code == StatusCode::kTilingError && status.parameter == "FIA_ISA" &&
                       status.rule == "isa" && size == 0 && !executor.valid() &&
                       status.message.find("\"sse9\"") != std::string::npos;
  std::exit(refused ? 0 : 1);
}

// In a process of its own: the choice is made once. It runs this program anew up to the same place.
TEST(RuntimeDeathTest, PhaseOneRefusesAnInstructionSetThatIsNotThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* text = std::getenv("FIA_ISA");
  const std::string before = text != nullptr ? text : "";
  setenv("FIA_ISA", "sse9", 1);
  const BuiltCall call(CallSpec{});
  EXPECT_EXIT(ExitRefusedByIsa(call.params()), ::testing::ExitedWithCode(0), "");
  if (before.empty()) {
    unsetenv("FIA_ISA");
  } else {
    setenv("FIA_ISA", before.c_str(), 1);
  }
}

TEST(RuntimeTest, VersionHasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(Version(), std::regex("\\d+\\.\\d+\\.\\d+"))) << Version();
}

}  // namespace
}  // namespace fia::testing
