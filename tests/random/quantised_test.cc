// Random quantised calls against the reference.
#include <gtest/gtest.h>

#include "random/differential.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

TEST(RandomQuantisedCalls, MatchTheReference) {
  const std::map<std::string, int> seen = RunRandomCalls(RandomQuantisedCall, 2400);
  ExpectShares(seen,
               {{"strict", 0.25},     {"relaxed", 0.5},     {"key mode 0", 0.1},  {"key mode 1", 0.06},
                {"key mode 2", 0.03}, {"key mode 3", 0.04}, {"key mode 4", 0.01}, {"key mode 5", 0.01},
                {"combined", 0.06},   {"offsets", 0.15},    {"int4", 0.04},       {"int4 in int32", 0.02},
                {"int8 flow", 0.15},  {"int8 mla", 0.06},   {"int8 output", 0.2}, {"NZ", 0.15},
                {"list", 0.04},       {"prefix", 0.03},     {"kv padding", 0.03}, {"decode", 0.08},
                {"full mask", 0.2},   {"mode3", 0.1},       {"mode4", 0.05},      {"bias", 0.1},
                {"TND", 0.03},        {"long", 0.08}});
}

}  // namespace
}  // namespace fia::testing
