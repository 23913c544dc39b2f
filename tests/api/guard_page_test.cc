// Every buffer ends, and once begins, at a page that may not be touched: one byte too many is a crash.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/call_check.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

void ExpectNoOverrun(CallSpec spec) {
  for (const Guard guard : {Guard::kAfter, Guard::kBefore}) {
    spec.guard = guard;
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(GuardPages, EveryDimAroundVectorWidths) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32}) {
    for (const std::int64_t dim : {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100}) {
      for (const std::int64_t rows : {1, 21}) {
        CallSpec spec;
        spec.dtype = spec.kv_dtype = spec.out_dtype = dtype;
        spec.head_dim = spec.value_dim = dim;
        spec.query_lengths = {rows};
        spec.kv_lengths = {35};
        ExpectNoOverrun(spec);
      }
    }
  }
}

TEST(GuardPages, EveryStorage) {
  for (const KvStorage storage : {KvStorage::kTensor, KvStorage::kList, KvStorage::kPagedBnBsH,
                                  KvStorage::kPagedBnNBsD, KvStorage::kPagedNz}) {
    for (const std::int64_t rows : {1, 18}) {
      CallSpec spec;
      spec.storage = storage;
      spec.query_lengths = {rows, rows};
      spec.kv_lengths = {67, 32};
      spec.mask.mode = 3;
      spec.sink = spec.bias.given = true;
      ExpectNoOverrun(spec);
    }
  }
}

TEST(GuardPages, MasksPrefixAndPadding) {
  for (const std::int64_t rows : {1, 18}) {
    CallSpec spec;
    spec.query_lengths = {rows, rows};
    spec.kv_lengths = {67, 32};
    spec.mask.given = true;
    ExpectNoOverrun(spec);
    spec.prefix.length = 7;
    ExpectNoOverrun(spec);
    spec.prefix.length = 0;
    spec.padding.query = spec.padding.kv = true;
    spec.padding.kv_size = 2;
    spec.kv_slack = 2;
    ExpectNoOverrun(spec);
  }
}

TEST(GuardPages, RandomCalls) {
  for (std::uint64_t index = 0; index < 150; ++index) ExpectNoOverrun(RandomCall(77, index));
  for (std::uint64_t index = 0; index < 150; ++index) ExpectNoOverrun(RandomQuantisedCall(77, index));
}

}  // namespace
}  // namespace fia::testing
