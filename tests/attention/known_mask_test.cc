// Masks with answers known in advance: which keys a row sees is read off one-hot values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "support/call_check.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Keys = std::vector<std::int64_t>;

// Keys `first`..`last`, both included.
Keys Range(std::int64_t first, std::int64_t last) {
  Keys keys;
  for (std::int64_t j = first; j <= last; ++j) keys.push_back(j);
  return keys;
}

// Row i of sequence b gives weight to exactly `keys`, in every head.
void ExpectSees(const BuiltCall& call, std::int64_t b, std::int64_t i, const Keys& keys) {
  for (std::int64_t n = 0; n < call.spec().num_heads; ++n) {
    Keys seen;
    double sum = 0;
    for (std::int64_t d = 0; d < call.spec().value_dim; ++d) {
      const double weight = call.Out(b, i, n, d);
      sum += weight;
      if (weight != 0) seen.push_back(d);
    }
    EXPECT_EQ(seen, keys) << "sequence " << b << " row " << i << " head " << n;
    EXPECT_NEAR(sum, keys.empty() ? 0 : 1, 4e-3);
    if (keys.empty()) {
      EXPECT_EQ(call.Lse(b, i, n), kInfinity);
    }
  }
}

CallSpec Masked(CallSpec spec, std::function<bool(const Site&)> masked) {
  return With(std::move(spec), [masked = std::move(masked)](const Site& site) -> std::optional<double> {
    if (site.part != Part::kMask) return std::nullopt;
    return masked(site) ? 1 : 0;
  });
}

TEST(KnownMask, PagedDecodeBehindAMaskIsAttentionOverTheKeysBeforeIt) {
  for (const std::int64_t seen : {137, 512, 513, 600, 4095}) {
    CallSpec spec;
    spec.layout = "BSH";
    spec.num_heads = spec.num_kv_heads = 12;
    spec.dtype = spec.kv_dtype = spec.out_dtype = DataType::kBfloat16;
    spec.storage = KvStorage::kPagedBnBsH;
    spec.paged.block_size = 128;
    spec.check = Check::kStrict;
    CallSpec shorter = spec;
    shorter.kv_lengths = {seen};
    spec.kv_lengths = {4096};
    spec.mask.given = true;
    spec = Masked(spec, [seen](const Site& site) { return site.dim >= seen; });
    EXPECT_TRUE(CallMatches(spec));
    EXPECT_EQ(RunBits(spec), RunBits(shorter));
  }
}

TEST(KnownMask, MoreRowsThanKeysLeavesTheFirstRowsEmpty) {
  for (const std::int64_t inner_precise : {0, 1, 2, 3}) {
    CallSpec spec;
    spec.query_lengths = {4};
    spec.kv_lengths = {2};
    spec.mask.mode = 3;
    spec.inner_precise = inner_precise;
    spec = WithOneHotValues(spec);
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    ExpectSees(call, 0, 0, {});
    ExpectSees(call, 0, 1, {});
    ExpectSees(call, 0, 2, {0});
    ExpectSees(call, 0, 3, {0, 1});
  }
}

TEST(KnownMask, OneMeansMaskedOut) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 8;
  spec.query_lengths = {128};
  spec.kv_lengths = {128};
  spec.mask.given = true;
  const auto attended = [](const Site& site) { return site.dim <= site.position && site.dim < 100; };
  const CallSpec right = Masked(spec, [attended](const Site& site) { return !attended(site); });
  const CallSpec inverse = Masked(spec, attended);
  BuiltCall right_call(right);
  BuiltCall inverse_call(inverse);
  ASSERT_TRUE(CallMatches(right_call));
  ASSERT_TRUE(CallMatches(inverse_call));
  const Rows values = RowsOf(right_call.params().value[0], AxisOrder::kBnsd, 64, DataType::kFloat16, 1);
  double difference = 0;
  for (std::int64_t n = 0; n < 8; ++n) {
    for (std::int64_t d = 0; d < 64; ++d) {
      EXPECT_EQ(right_call.Out(0, 0, n, d), values.Get(0, 0, n, d));  // row 0 sees key 0 alone
      difference =
          std::fmax(difference, std::fabs(right_call.Out(0, 64, n, d) - inverse_call.Out(0, 64, n, d)));
    }
  }
  EXPECT_GT(difference, 0.05);
}

TEST(KnownMask, RowsBelowTheAttendedCornerAreEmpty) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = 16;
  spec.query_lengths = {8};
  spec.kv_lengths = {8};
  spec.mask.given = true;
  spec = Masked(spec, [](const Site& site) { return site.position >= 4 || site.dim >= 4; });
  spec = WithOneHotValues(spec);
  BuiltCall call(spec);
  ASSERT_TRUE(CallMatches(call));
  for (std::int64_t i = 0; i < 8; ++i) ExpectSees(call, 0, i, i < 4 ? Range(0, 3) : Keys{});
}

TEST(KnownMask, EmptyRowsStayEmptyBesideASinkWhereverTheyLie) {
  for (const std::int64_t first : {0, 3, 6}) {
    CallSpec spec;
    spec.head_dim = spec.value_dim = 128;
    spec.query_lengths = {20};
    spec.kv_lengths = {40};
    spec.sink = true;
    spec.mask.given = true;
    const auto empty = [first](std::int64_t i) { return i >= first && i < first + 14; };
    spec = Masked(spec, [empty](const Site& site) { return empty(site.position); });
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    for (std::int64_t i = 0; i < 20; ++i) {
      if (empty(i)) ExpectSees(call, 0, i, {});
      EXPECT_EQ(call.Lse(0, i, 0) == kInfinity, empty(i)) << i;
    }
  }
}

TEST(KnownMask, FewerRowsThanKeysFromEitherCorner) {
  CallSpec spec;
  spec.layout = "BNSD_BSND";
  spec.query_lengths = {1, 2};
  spec.kv_lengths = {4, 6};
  spec.mask.mode = 2;
  spec = WithOneHotValues(spec);
  BuiltCall top_left(spec);
  ASSERT_TRUE(CallMatches(top_left));
  ExpectSees(top_left, 0, 0, {0});
  ExpectSees(top_left, 1, 0, {0});
  ExpectSees(top_left, 1, 1, {0, 1});

  spec.layout = "TND";
  spec.mask.mode = 3;
  BuiltCall bottom_right(spec);
  ASSERT_TRUE(CallMatches(bottom_right));
  ExpectSees(bottom_right, 0, 0, Range(0, 3));
  ExpectSees(bottom_right, 1, 0, Range(0, 4));
  ExpectSees(bottom_right, 1, 1, Range(0, 5));
}

TEST(KnownMask, ABandOfFiveKeys) {
  CallSpec spec;
  spec.query_lengths = {10};
  spec.kv_lengths = {10};
  spec.mask.mode = 4;
  spec.mask.pre_tokens = 4;
  spec.mask.next_tokens = 0;
  BuiltCall call(WithOneHotValues(spec));
  ASSERT_TRUE(CallMatches(call));
  for (std::int64_t i = 0; i < 10; ++i) ExpectSees(call, 0, i, Range(i < 4 ? 0 : i - 4, i));
}

TEST(KnownMask, KeyMaskAndCausalTogether) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 13;
  spec.head_dim = spec.value_dim = 48;
  spec.query_lengths = {7};
  spec.kv_lengths = {7};
  spec.mask.given = true;
  static constexpr bool kAttended[] = {false, true, true, false, false, true, false};
  spec = Masked(spec, [](const Site& site) { return site.dim > site.position || !kAttended[site.dim]; });
  BuiltCall call(WithOneHotValues(spec));
  ASSERT_TRUE(CallMatches(call));
  const Keys seen[] = {{}, {1}, {1, 2}, {1, 2}, {1, 2}, {1, 2, 5}, {1, 2, 5}};
  for (std::int64_t i = 0; i < 7; ++i) ExpectSees(call, 0, i, seen[i]);
}

TEST(KnownMask, MaskedNanDoesNotMatter) {
  for (const std::int64_t rows : {1, 2, 40}) {
    CallSpec spec;
    spec.query_lengths = {rows};
    spec.kv_lengths = {2};
    spec.mask.given = true;
    spec = Masked(spec, [](const Site& site) { return site.dim == 1; });  // fills key 1 with NaN
    BuiltCall call(spec);
    ASSERT_TRUE(CallMatches(call));
    const Rows keys = RowsOf(call.params().key[0], AxisOrder::kBnsd, 64, DataType::kFloat16, 1);
    const Rows values = RowsOf(call.params().value[0], AxisOrder::kBnsd, 64, DataType::kFloat16, 1);
    ASSERT_TRUE(std::isnan(keys.Get(0, 1, 0, 0)) && std::isnan(values.Get(0, 1, 0, 0)));
    for (std::int64_t d = 0; d < 64; ++d) EXPECT_EQ(call.Out(0, rows - 1, 3, d), values.Get(0, 0, 1, d));
  }
}

TEST(KnownMask, CausalRowsSeeThePrefixFirst) {
  CallSpec spec;
  spec.query_lengths = {2};
  spec.kv_lengths = {2};
  spec.prefix.length = 3;
  spec.mask.mode = 3;
  BuiltCall call(WithOneHotValues(spec));
  ASSERT_TRUE(CallMatches(call));
  ExpectSees(call, 0, 0, Range(0, 3));
  ExpectSees(call, 0, 1, Range(0, 4));
}

TEST(KnownMask, LeftPaddedKeysTakeTheirPaddedColumns) {
  for (const std::int64_t rows : {1, 3}) {
    CallSpec spec;
    spec.query_lengths = {rows};
    spec.kv_lengths = {3};
    spec.kv_slack = 5;
    spec.padding.kv = true;
    spec.padding.kv_size = 1;
    spec.mask.given = true;
    spec.mask.batch_shared = true;
    spec = Masked(spec, [](const Site& site) { return site.dim == 4; });  // the column of the first key
    BuiltCall call(WithOneHotValues(spec));
    ASSERT_EQ(call.geometry().sequences[0].kv_start, 4);
    ASSERT_TRUE(CallMatches(call));
    ExpectSees(call, 0, 0, {1, 2});
  }
}

}  // namespace
}  // namespace fia::testing
