#include "support/call_check.h"

#include <algorithm>

#include "support/judge.h"
#include "support/rng.h"

namespace fia::testing {
namespace {

// Positions on the output's row axis that `b` has: the padded axis, or the packed sequence's own rows.
std::int64_t AxisRows(const CallGeometry& geometry, std::int64_t b) {
  return geometry.packed ? geometry.sequences[static_cast<std::size_t>(b)].rows : geometry.query_axis;
}

}  // namespace

std::vector<RowIndex> RowsToJudge(const CallSpec& spec, std::int64_t budget) {
  const CallGeometry geometry(spec);
  std::int64_t most_keys = 1;
  std::int64_t total = 0;
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    most_keys = std::max(most_keys, geometry.sequences[static_cast<std::size_t>(b)].keys);
    total += AxisRows(geometry, b) * spec.num_heads;
  }
  const std::int64_t row_cost = most_keys * (spec.head_dim + spec.rope_dim + spec.value_dim);
  const double share =
      static_cast<double>(budget) / static_cast<double>(row_cost * std::max<std::int64_t>(total, 1));
  std::vector<RowIndex> rows;
  Rng rng(spec.seed);
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    const std::int64_t positions = AxisRows(geometry, b);
    for (std::int64_t position = 0; position < positions; ++position) {
      for (std::int64_t head = 0; head < spec.num_heads; ++head) {
        const bool end = position == 0 || position == positions - 1;
        if ((end && head == position % spec.num_heads) || rng.Chance(share))
          rows.push_back({b, head, position});
      }
    }
  }
  return rows;
}

::testing::AssertionResult CallMatches(const BuiltCall& call, std::int64_t budget) {
  const std::vector<RowIndex> rows = RowsToJudge(call.spec(), budget);
  const ::testing::AssertionResult result = MatchesReference(call.params(), &rows);
  if (!result)
    return ::testing::AssertionFailure() << result.message() << "\n  call: " << Summary(call.spec());
  if (!call.OutputGapsHold())
    return ::testing::AssertionFailure() << "written outside the output: " << Summary(call.spec());
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult CallMatches(const CallSpec& spec) { return CallMatches(BuiltCall(spec)); }

std::vector<std::vector<std::uint8_t>> RunBits(const CallSpec& spec) {
  BuiltCall call(spec);
  const Status status = call.Run();
  EXPECT_TRUE(status.ok()) << status.message << "\n  call: " << Summary(spec);
  std::vector<std::vector<std::uint8_t>> bits;
  for (std::int64_t b = 0; status.ok() && b < spec.batch(); ++b) bits.push_back(call.Bits(b));
  return bits;
}

}  // namespace fia::testing
