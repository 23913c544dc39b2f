// A row's bits depend on its query, the keys it attends and their positions, and on nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "invariance/variants.h"
#include "support/call_check.h"

namespace fia::testing {
namespace {

struct Size {
  std::int64_t rows;
  std::int64_t keys;
};

// One row, rows of the streaming body and of the packing one; keys around tile and chunk borders.
constexpr Size kSizes[] = {{1, 1},  {1, 63},  {1, 64},  {1, 65},   {1, 256}, {1, 257}, {1, 1025},
                           {3, 65}, {8, 257}, {9, 129}, {17, 255}, {40, 40}, {40, 257}};

class BitsTest : public ::testing::TestWithParam<std::tuple<DataType, Size>> {
 protected:
  CallSpec Base() const {
    CallSpec spec;
    spec.dtype = spec.kv_dtype = spec.out_dtype = std::get<DataType>(GetParam());
    const Size size = std::get<Size>(GetParam());
    spec.query_lengths = {size.rows};
    spec.kv_lengths = {size.keys};
    return spec;
  }
  static CallSpec WithCommonKeys(CallSpec spec) {
    spec.common_tokens = spec.kv_lengths[0];
    return spec;
  }
  CallSpec CausalBase() const {
    CallSpec spec = Base();
    spec.mask.mode = 3;
    spec.sink = true;
    return spec;
  }
  CallSpec BiasedBase() const {
    CallSpec spec = Base();
    spec.bias.given = true;
    spec.inner_precise = 1;
    return spec;
  }
  CallSpec RotaryBase() const {
    CallSpec spec = CausalBase();
    spec.sink = false;
    spec.num_heads = 8;
    spec.num_kv_heads = 1;
    spec.head_dim = spec.value_dim = 512;
    spec.rope_dim = 64;
    spec.scale = 0.05;
    spec.kv_lengths[0] = std::min<std::int64_t>(spec.kv_lengths[0], 300);
    return spec;
  }
};

TEST_P(BitsTest, ThreadsFlagsAndViews) {
  for (const CallSpec& base : {Base(), CausalBase(), BiasedBase()}) ExpectSameBits(base, RunVariants(base));
}

TEST_P(BitsTest, OtherSequences) {
  for (const CallSpec& base : {Base(), CausalBase(), BiasedBase()}) ExpectSameBits(base, BatchVariants(base));
}

TEST_P(BitsTest, Storage) {
  for (const CallSpec& own : {Base(), CausalBase(), BiasedBase()}) {
    const CallSpec base = WithCommonKeys(own);
    ExpectSameBits(base, StorageVariants(base));
  }
}

TEST_P(BitsTest, Layouts) {
  for (const CallSpec& base : {Base(), CausalBase(), BiasedBase()})
    ExpectSameBits(base, LayoutVariants(base));
}

TEST_P(BitsTest, WordsForTheSameMask) {
  for (const CallSpec& base : {Base(), CausalBase()}) {
    CallSpec general = base;
    general.layout = "BNSD_BSND";  // decode calls of BNSD take no modes
    ExpectSameBits(general, MaskVariants(general));
  }
}

TEST_P(BitsTest, RotaryParts) {
  const CallSpec base = RotaryBase();
  ExpectSameBits(base, LayoutVariants(base));
  ExpectSameBits(base, StorageVariants(base));
  ExpectSameBits(base, RunVariants(base));
}

INSTANTIATE_TEST_SUITE_P(All, BitsTest,
                         ::testing::Combine(::testing::Values(DataType::kFloat16, DataType::kBfloat16,
                                                              DataType::kFloat32),
                                            ::testing::ValuesIn(kSizes)));

TEST(LongBitsTest, SplitsOfALongCache) {
  for (const std::int64_t rows : {1, 20}) {
    for (const std::int64_t keys : {4096, 5001}) {
      CallSpec base;
      base.dtype = base.kv_dtype = base.out_dtype = DataType::kBfloat16;
      base.num_kv_heads = 1;
      base.head_dim = base.value_dim = 32;
      base.query_lengths = {rows};
      base.kv_lengths = {keys};
      base.common_tokens = keys;
      ExpectSameBits(base, RunVariants(base));
      ExpectSameBits(base, BatchVariants(base));
      ExpectSameBits(base, StorageVariants(base));
    }
  }
}

// Tasks in falling order on one thread, said to be `width` at a time.
void RunBackwards(void*, std::int64_t count, void (*task)(void*, std::int64_t), void* argument) {
  for (std::int64_t index = count; index-- > 0;) task(argument, index);
}

// Which worker takes which item, and what it expected to take, must not matter.
TEST(LongBitsTest, ACallersOwnLoop) {
  for (const KvStorage storage : {KvStorage::kTensor, KvStorage::kPagedBnNBsD, KvStorage::kPagedBnBsH}) {
    CallSpec spec;
    spec.storage = storage;
    spec.num_kv_heads = spec.is_paged() ? 4 : 1;
    spec.query_lengths = {1, 3, 40};
    spec.kv_lengths = {3000, 70, 2100};
    spec.threads = 1;
    BuiltCall alone(spec);
    ASSERT_TRUE(alone.Run().ok());
    for (const int width : {1, 2, 3, 5, 16}) {
      BuiltCall own(spec);
      own.mutable_params()->execution.num_threads = 0;
      own.mutable_params()->execution.parallel_for = ParallelFor{RunBackwards, nullptr, width};
      ASSERT_TRUE(own.Run().ok());
      for (int sequence = 0; sequence < 3; ++sequence) EXPECT_EQ(own.Bits(sequence), alone.Bits(sequence));
    }
  }
}

TEST(LongBitsTest, TheSameCallTwice) {
  CallSpec spec;
  spec.query_lengths = {1, 30};
  spec.kv_lengths = {700, 300};
  spec.threads = 3;
  BuiltCall call(spec);
  ASSERT_TRUE(call.Run().ok());
  const auto first = call.Bits(1);
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(call.Run().ok());
    ASSERT_EQ(call.Bits(1), first);
  }
}

}  // namespace
}  // namespace fia::testing
