#include "random/differential.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>

#include "fia/runtime.h"
#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr std::uint64_t kDefaultSeed = 20240607;
constexpr std::int64_t kBudget = 1'000'000;  // multiply-adds of the reference for one call
constexpr int kMostFailures = 10;            // then the run ends: more say nothing new

std::optional<std::uint64_t> Number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

std::string ReplayLine(std::uint64_t seed, std::uint64_t index) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return "replay: FIA_ISA=" + std::string(ActiveIsa()) + " FIA_RANDOM_SEED=" + std::to_string(seed) +
         " FIA_RANDOM_CASE=" + std::to_string(index) +
         " fia_test_random --gtest_filter=" + test->test_suite_name() + "." + test->name();
}

// What a call exercises, by name.
std::set<std::string> FeaturesOf(const CallSpec& spec) {
  std::set<std::string> features = {spec.layout, spec.check == Check::kStrict ? "strict" : "relaxed",
                                    "mode" + std::to_string(spec.mask.mode)};
  const CallGeometry geometry(spec);
  const auto add = [&features](bool has, const char* name) {
    if (has) features.insert(name);
  };
  constexpr const char* kStorage[] = {"tensor", "list", "BnBsH", "BnNBsD", "NZ"};
  features.insert(kStorage[static_cast<int>(spec.storage)]);
  add(geometry.decode, "decode");
  add(geometry.query_axis > 16, "prefill");
  add(geometry.kv_axis > 256, "long");
  add(spec.mask.given, "full mask");
  add(spec.bias.given, "bias");
  add(spec.sink, "sink");
  add(spec.lse, "lse");
  add(spec.rope_dim > 0, "rope");
  add(spec.prefix.length > 0, "prefix");
  add(geometry.query_padded, "query padding");
  add(geometry.kv_padded, "kv padding");
  add(spec.head_dim != spec.value_dim, "other value dim");
  add(spec.dtype == DataType::kFloat32, "float32");
  const bool bfloat16 = spec.dtype == DataType::kBfloat16 && spec.kv_dtype == DataType::kBfloat16;
  const bool many_rows = geometry.query_axis * spec.num_heads / spec.num_kv_heads > 16;
  add(bfloat16 && many_rows && spec.inner_precise % 2 == 0, "bfloat16 scores");
  add(bfloat16 && many_rows && spec.inner_precise % 2 == 1, "bfloat16 weights");
  add(spec.quant.output != OutputQuant::kNone, "int8 output");
  add(spec.quant.flow == QuantFlow::kInt8, "int8 flow");
  add(spec.quant.flow == QuantFlow::kInt8Mla, "int8 mla");
  if (spec.quant.flow == QuantFlow::kAntiquant) {
    features.insert("key mode " + std::to_string(spec.quant.key_mode));
    add(spec.quant.combined, "combined");
    add(spec.quant.offsets, "offsets");
    add(spec.kv_dtype == DataType::kInt4, "int4");
    add(spec.quant.int4_in_int32, "int4 in int32");
  }
  return features;
}

}  // namespace

std::map<std::string, int> RunRandomCalls(CallMaker make, std::uint64_t count) {
  const std::uint64_t seed = Number("FIA_RANDOM_SEED").value_or(kDefaultSeed);
  const std::optional<std::uint64_t> only = Number("FIA_RANDOM_CASE");
  const std::uint64_t first = only.value_or(0);
  const std::uint64_t end = only ? first + 1 : Number("FIA_RANDOM_CALLS").value_or(count);
  std::cout << "seed " << seed << ", calls " << first << " to " << end << ", " << ActiveIsa() << std::endl;
  std::map<std::string, int> seen;
  int failures = 0;
  for (std::uint64_t index = first; index < end && failures < kMostFailures; ++index) {
    const CallSpec spec = make(seed, index);
    const ::testing::AssertionResult result = CallMatches(BuiltCall(spec), kBudget);
    EXPECT_TRUE(result) << ReplayLine(seed, index);
    failures += result ? 0 : 1;
    ++seen["calls"];
    for (const std::string& feature : FeaturesOf(spec)) ++seen[feature];
  }
  if (only) seen.clear();
  return seen;
}

void ExpectShares(const std::map<std::string, int>& seen, const std::map<std::string, double>& shares) {
  const auto calls = seen.find("calls");
  if (calls == seen.end() || calls->second < 500) return;  // few calls have no shares
  for (const auto& [feature, share] : shares) {
    const auto found = seen.find(feature);
    const int times = found == seen.end() ? 0 : found->second;
    EXPECT_GE(times, share * calls->second) << feature;
  }
}

}  // namespace fia::testing
