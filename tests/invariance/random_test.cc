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

// With lengths for each sequence, which must not switch on a left padding that absent ones keep off.
CallSpec WithLengths(CallSpec spec, const CallGeometry& geometry) {
  spec.query_form = spec.kv_form = LengthsForm::kEach;
  spec.padding.query = geometry.query_padded;
  spec.padding.kv = geometry.kv_padded;
  return spec;
}

// The call with sequence `b` alone, its axes long enough that it stays the same kind of call.
CallSpec Alone(const CallSpec& spec, std::int64_t b) {
  const std::size_t place = static_cast<std::size_t>(b);
  const CallGeometry geometry(spec);
  CallSpec alone = WithLengths(spec, geometry);
  alone.ids = {spec.id(b)};
  alone.query_lengths = {spec.query_lengths[place]};
  alone.kv_lengths = {spec.kv_lengths[place]};
  if (!geometry.packed) alone.query_slack = geometry.query_axis - spec.query_lengths[place];
  if (!geometry.packed && spec.storage == KvStorage::kTensor)
    alone.kv_slack = geometry.kv_axis - spec.kv_lengths[place];
  if (alone.storage == KvStorage::kList) alone.storage = KvStorage::kTensor;  // one tensor is no list
  alone.mask.column_slack += 1;  // a mask without elements counts as absent
  alone.quant.scale_slack += 1;
  // An int8 cache in blocks takes no mode 3 with one row, which attends every key either way.
  const bool one_row = geometry.packed && spec.query_lengths[place] == 1;
  if (spec.quant.flow == QuantFlow::kAntiquant && one_row) alone.mask.mode = 0;
  return alone;
}

CallSpec Dense(const CallSpec& spec) {
  const CallGeometry geometry(spec);
  CallSpec dense = WithLengths(spec, geometry);
  dense.layout = geometry.decode ? "BNSD" : "BNSD_BSND";
  dense.check = Check::kRelaxed;
  dense.storage = KvStorage::kTensor;
  dense.query_view = dense.kv_view = dense.out_view = ViewForm::kDense;
  dense.fill = UnusedFill::kZero;
  dense.lse = spec.lse || spec.quant.output == OutputQuant::kNone;
  return dense;
}

// Compressed int8 caches and scales in blocks exist in blocks only.
bool CanBeDense(const CallSpec& spec) {
  return spec.kv_view != ViewForm::kBroadcast && spec.quant.flow != QuantFlow::kInt8Mla &&
         spec.quant.key_mode < 4;
}

// Contents that follow padded positions, and caches of one sequence for all, change with the batch.
bool DependsOnBatch(const CallSpec& spec) {
  const CallGeometry geometry(spec);
  const bool shared =
      (spec.mask.given && spec.mask.batch_shared) || (spec.bias.given && spec.bias.batch_shared);
  return spec.kv_view == ViewForm::kBroadcast || (shared && (geometry.query_padded || geometry.kv_padded));
}

struct Maker {
  const char* name;
  CallSpec (*make)(std::uint64_t seed, std::uint64_t index);
};

class RandomBits : public ::testing::TestWithParam<Maker> {
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

TEST_P(RandomBits, AloneThreadedAndDense) {
  for (index_ = 0; index_ < kCalls && !HasFailure(); ++index_) {
    const CallSpec spec = GetParam().make(kSeed, index_);
    const BuiltCall base(spec);
    const Status status = base.Run();
    ASSERT_TRUE(status.ok()) << status.message << "\n  call: " << Summary(spec);
    for (const int threads : {1, 2, 7}) {
      CallSpec other = spec;
      other.threads = threads;
      if (threads != spec.threads) ExpectBits(base, other, 0, "threads");
    }
    if (CanBeDense(spec)) ExpectBits(base, Dense(spec), 0, "dense");
    for (std::int64_t b = 0; b < spec.batch() && !DependsOnBatch(spec); ++b) {
      const CallGeometry& geometry = base.geometry();
      if (geometry.sequences[static_cast<std::size_t>(b)].computed &&
          spec.query_lengths[static_cast<std::size_t>(b)] > 0)
        ExpectBits(base, Alone(spec, b), b, "alone");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomBits,
                         ::testing::Values(Maker{"float", RandomCall},
                                           Maker{"quantised", RandomQuantisedCall}),
                         [](const auto& maker) { return std::string(maker.param.name); });

}  // namespace
}  // namespace fia::testing
