// Calls that were found to misbehave once, by what was wrong with them.
#include <gtest/gtest.h>

#include <cstring>

#include "support/call_builder.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

// The first sequence's results overwrite the second one's block ids.
TEST(Found, BlockTableInTheOutputsMemory) {
  for (const KvStorage storage : {KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz}) {
    CallSpec spec;
    spec.storage = storage;
    spec.guard = Guard::kAfter;
    spec.query_lengths = {1, 1, 1};
    spec.kv_lengths = {40, 70, 33};
    BuiltCall call(spec);
    TensorView& table = call.mutable_params()->paged->block_table;
    void* out = call.params().attention_out.data;
    const auto bytes = static_cast<std::size_t>(table.dims[0] * table.dims[1]) * sizeof(std::int32_t);
    std::memcpy(out, table.data, bytes);
    table.data = out;
    EXPECT_TRUE(call.Run().ok());
  }
}

}  // namespace
}  // namespace fia::testing
