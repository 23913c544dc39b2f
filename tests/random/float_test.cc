// Random calls without quantisation against the reference.
#include <gtest/gtest.h>

#include "random/differential.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

TEST(RandomCalls, MatchTheReference) {
  const std::map<std::string, int> seen = RunRandomCalls(RandomCall, 2400);
  ExpectShares(seen, {{"BSH", 0.04},
                      {"BSND", 0.04},
                      {"BNSD", 0.04},
                      {"BNSD_BSND", 0.04},
                      {"BSH_BNSD", 0.04},
                      {"BSND_BNSD", 0.04},
                      {"BSH_NBSD", 0.04},
                      {"BSND_NBSD", 0.04},
                      {"BNSD_NBSD", 0.04},
                      {"TND", 0.04},
                      {"NTD", 0.04},
                      {"NTD_TND", 0.04},
                      {"TND_NTD", 0.04},
                      {"strict", 0.3},
                      {"relaxed", 0.5},
                      {"mode0", 0.2},
                      {"mode1", 0.04},
                      {"mode2", 0.04},
                      {"mode3", 0.1},
                      {"mode4", 0.05},
                      {"tensor", 0.4},
                      {"list", 0.02},
                      {"BnBsH", 0.08},
                      {"BnNBsD", 0.08},
                      {"NZ", 0.04},
                      {"decode", 0.04},
                      {"prefill", 0.2},
                      {"long", 0.1},
                      {"full mask", 0.2},
                      {"bias", 0.1},
                      {"sink", 0.1},
                      {"lse", 0.6},
                      {"rope", 0.1},
                      {"prefix", 0.03},
                      {"query padding", 0.02},
                      {"kv padding", 0.02},
                      {"float32", 0.15},
                      {"bfloat16 scores", 0.05},
                      {"bfloat16 weights", 0.05},
                      {"other value dim", 0.08}});
}

}  // namespace
}  // namespace fia::testing
