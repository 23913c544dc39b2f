// Bits of random calls: each sequence alone, on other numbers of threads, and as dense padded tensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/call_check.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

constexpr std::uint64_t kSeed = 42;
constexpr std::uint64_t kCalls = 500;

// The call with sequence `b` alone, its axes long enough that it stays the same kind of call.
CallSpec Alone(const CallSpec& spec, std::int64_t b) {
  const std::size_t place = static_cast<std::size_t>(b);
  const CallGeometry geometry(spec);
  CallSpec alone = spec;
  alone.ids = {spec.id(b)};
  alone.query_lengths = {spec.query_lengths[place]};
  alone.kv_lengths = {spec.kv_lengths[place]};
  if (!geometry.packed) alone.query_slack = geometry.query_axis - spec.query_lengths[place];
  if (alone.query_slack > 0 && !geometry.decode) alone.query_form = LengthsForm::kEach;
  if (alone.storage == KvStorage::kList) alone.storage = KvStorage::kTensor;  // one tensor is no list
  alone.mask.column_slack += 1;  // a mask without elements counts as absent
  return alone;
}

CallSpec Dense(const CallSpec& spec) {
  const CallGeometry geometry(spec);
  CallSpec dense = spec;
  dense.layout = geometry.decode ? "BNSD" : "BNSD_BSND";
  dense.check = Check::kRelaxed;
  dense.storage = KvStorage::kTensor;
  dense.query_view = dense.kv_view = dense.out_view = ViewForm::kDense;
  dense.query_form = dense.kv_form = LengthsForm::kEach;
  dense.fill = UnusedFill::kZero;
  dense.lse = true;
  return dense;
}

// Contents that follow padded positions, and caches of one sequence for all, change with the batch.
bool DependsOnBatch(const CallSpec& spec) {
  const CallGeometry geometry(spec);
  const bool shared =
      (spec.mask.given && spec.mask.batch_shared) || (spec.bias.given && spec.bias.batch_shared);
  return spec.kv_view == ViewForm::kBroadcast || (shared && (geometry.query_padded || geometry.kv_padded));
}

class RandomBits : public ::testing::Test {
 protected:
  // Compares the sequences `first`.. of `spec` with the bits of the base call.
  void ExpectBits(const BuiltCall& base, const CallSpec& spec, std::int64_t first, const char* what) {
    const BuiltCall call(spec);
    const Status status = call.Run();
    ASSERT_TRUE(status.ok()) << what << ": " << status.message << "\n  call: " << Summary(spec);
    for (std::int64_t b = 0; b < spec.batch(); ++b) {
      EXPECT_TRUE(call.Bits(b, false) == base.Bits(first + b, false))
          << what << ", case " << index_ << " sequence " << first + b << "\n  base: " << Summary(base.spec())
          << "\n  other: " << Summary(spec);
    }
  }

  std::uint64_t index_ = 0;
};

TEST_F(RandomBits, AloneThreadedAndDense) {
  for (index_ = 0; index_ < kCalls && !HasFailure(); ++index_) {
    const CallSpec spec = RandomCall(kSeed, index_);
    const BuiltCall base(spec);
    const Status status = base.Run();
    ASSERT_TRUE(status.ok()) << status.message << "\n  call: " << Summary(spec);
    for (const int threads : {1, 2, 7}) {
      CallSpec other = spec;
      other.threads = threads;
      if (threads != spec.threads) ExpectBits(base, other, 0, "threads");
    }
    if (spec.kv_view != ViewForm::kBroadcast) ExpectBits(base, Dense(spec), 0, "dense");
    for (std::int64_t b = 0; b < spec.batch() && !DependsOnBatch(spec); ++b) {
      const CallGeometry& geometry = base.geometry();
      if (geometry.sequences[static_cast<std::size_t>(b)].computed &&
          spec.query_lengths[static_cast<std::size_t>(b)] > 0)
        ExpectBits(base, Alone(spec, b), b, "alone");
    }
  }
}

}  // namespace
}  // namespace fia::testing
