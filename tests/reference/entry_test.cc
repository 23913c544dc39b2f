// The public entry: phase one's refusals come first; the answer is the internal one.
#include <gtest/gtest.h>

#include "reference/reference.h"
#include "scene.h"

namespace fia::testing {
namespace {

AttentionParams Relaxed(const PlainCall& call) {
  AttentionParams params = call.params;
  params.execution.check = Check::kRelaxed;
  return params;
}

TEST(EntryTest, ChosenRowsAndAllRowsAgree) {
  const PlainCall call = MakePlainCall(Scene(), "BSND");
  const AttentionParams params = Relaxed(call);
  ReferenceResult all;
  ASSERT_TRUE(ComputeReference(params, nullptr, &all).ok());
  ASSERT_EQ(all.rows.size(), 2u * 2 * 3);
  const std::vector<RowIndex> chosen = {{1, 0, 1}, {0, 1, 2}};
  ReferenceResult some;
  ASSERT_TRUE(ComputeReference(params, &chosen, &some).ok());
  ASSERT_EQ(some.rows.size(), 2u);
  EXPECT_EQ(some.rows[0].out, all.rows[6 + 1].out);
  EXPECT_EQ(some.rows[1].out, all.rows[3 + 2].out);
  EXPECT_EQ(some.rows[1].lse, all.rows[3 + 2].lse);
}

TEST(EntryTest, RefusesWhatPhaseOneRefuses) {
  const PlainCall call = MakePlainCall(Scene(), "BSND");
  AttentionParams params = Relaxed(call);
  params.heads.num_kv_heads = 3;
  Executor executor;
  std::uint64_t size = 0;
  const Status expected = GetWorkspaceSize(params, &size, &executor);
  ReferenceResult result;
  result.value_dim = 7;
  const Status status = ComputeReference(params, nullptr, &result);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code, expected.code);
  EXPECT_EQ(status.message, expected.message);
  EXPECT_EQ(result.value_dim, 0);
}

TEST(EntryTest, NeedsAResult) {
  const PlainCall call = MakePlainCall(Scene(), "BSND");
  EXPECT_EQ(ComputeReference(call.params, nullptr, nullptr).code, StatusCode::kNullPointer);
}

TEST(EntryTest, NullAddressesAreRuntimeErrors) {
  const PlainCall call = MakePlainCall(Scene(), "BSND");
  AttentionParams params = Relaxed(call);
  params.key[0].data = nullptr;
  ReferenceResult result;
  const Status status = ComputeReference(params, nullptr, &result);
  EXPECT_EQ(status.code, StatusCode::kRuntimeError);
  EXPECT_EQ(status.parameter, "key");
}

}  // namespace
}  // namespace fia::testing
