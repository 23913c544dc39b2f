// Caches and views with answers known in advance: unused memory, shared blocks, huge offsets, formats.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "fia/half.h"
#include "support/call_check.h"
#include "support/judge.h"

namespace fia::testing {
namespace {

TEST(KnownStorage, WhatLiesPastTheLengthsNeverMatters) {
  for (const KvStorage storage : {KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz,
                                  KvStorage::kTensor, KvStorage::kList}) {
    CallSpec spec;
    spec.num_heads = spec.num_kv_heads = 8;
    spec.dtype = spec.kv_dtype = spec.out_dtype = DataType::kBfloat16;
    spec.storage = storage;
    spec.paged.extra_blocks = 2;
    spec.query_lengths = {1, 1, 1, 1, 1};
    spec.kv_lengths = {32, 64, 96, 48, 13};
    spec.kv_slack = 32;
    CallSpec zero = spec;
    zero.fill = UnusedFill::kZero;
    EXPECT_EQ(RunBits(spec), RunBits(zero));
    EXPECT_TRUE(CallMatches(spec));
  }
}

TEST(KnownStorage, UsedBlocksOutsideTheCacheAreRefusedAndNothingIsWritten) {
  for (const std::int32_t bad : {-1, 7, 1 << 30}) {
    CallSpec spec;
    spec.storage = KvStorage::kPagedBnNBsD;
    spec.query_lengths = {1, 2, 0};
    spec.kv_lengths = {20, 33, 17};
    BuiltCall call(spec);
    const TensorView& table = call.params().paged->block_table;
    ASSERT_EQ(call.tensors()->blocks, 7);
    const CallTensors& tensors = *call.tensors();
    const Memory& out = tensors.out.memory;
    const std::vector<std::uint8_t> before(out.data(), out.data() + out.size());
    std::int32_t* entry =
        static_cast<std::int32_t*>(table.data) + table.strides[0] + 2;  // last of sequence 1
    const std::int32_t good = *entry;
    *entry = bad;
    const Status status = call.Run();
    EXPECT_EQ(status.code, StatusCode::kRuntimeError);
    EXPECT_EQ(status.rule, "block_id");
    EXPECT_EQ(before, std::vector<std::uint8_t>(out.data(), out.data() + out.size()));
    *entry = good;
    EXPECT_TRUE(CallMatches(call));  // entries past the ends and of the sequence without rows are as bad
  }
}

TEST(KnownStorage, APackedSequenceWithoutRowsWritesNothing) {
  CallSpec spec;
  spec.layout = "TND";
  spec.query_lengths = {150, 0, 150};
  spec.kv_lengths = {100, 100, 100};
  EXPECT_TRUE(CallMatches(spec));
  CallSpec shorter = spec;
  shorter.query_lengths = {150, 150};
  shorter.kv_lengths = {100, 100};
  shorter.ids = {0, 2};
  const auto bits = RunBits(spec);
  const auto without = RunBits(shorter);
  ASSERT_EQ(bits.size(), 3u);
  ASSERT_EQ(without.size(), 2u);
  EXPECT_EQ(bits[0], without[0]);
  EXPECT_EQ(bits[2], without[1]);
}

TEST(KnownStorage, TransposedValuesGiveTheBitsOfContiguousOnes) {
  CallSpec spec;
  spec.num_heads = spec.num_kv_heads = 16;
  spec.head_dim = spec.value_dim = 128;
  spec.dtype = spec.kv_dtype = spec.out_dtype = DataType::kBfloat16;
  for (const std::int64_t rows : {1, 62}) {
    spec.query_lengths = {rows};
    spec.kv_lengths = {62};
    spec.kv_view = ViewForm::kDense;
    const auto bits = RunBits(spec);
    for (const ViewForm form : {ViewForm::kTransposed, ViewForm::kScattered, ViewForm::kGaps}) {
      spec.kv_view = form;
      EXPECT_EQ(RunBits(spec), bits);
    }
  }
}

TEST(KnownStorage, KeysSharedByStrideZeroGiveTheBitsOfCopies) {
  for (const std::int64_t keys : {33, 65, 97}) {
    CallSpec spec;
    spec.query_lengths = {1, 1, 1};
    spec.kv_lengths = {keys, keys, keys};
    spec.common_tokens = keys;
    const auto bits = RunBits(spec);
    spec.kv_view = ViewForm::kBroadcast;
    EXPECT_EQ(RunBits(spec), bits);
  }
}

// Sparse memory of more than 2^31 elements: only the pages that are touched exist.
class HugeCache {
 public:
  static constexpr std::int64_t kBlock = 128;
  static constexpr std::int64_t kDim = 128;
  static constexpr std::int64_t kBlocks = (std::int64_t{1} << 31) / (kBlock * kDim) + 2;

  HugeCache() {
    data_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~HugeCache() {
    if (mapped()) munmap(data_, kBytes);
  }
  bool mapped() const { return data_ != MAP_FAILED; }
  TensorView view() const {
    return TensorView::Contiguous(data_, DataType::kFloat16, {kBlocks, 1, kBlock, kDim});
  }
  void CopyBlock(std::int64_t block, const void* from) {
    std::memcpy(static_cast<std::uint16_t*>(data_) + block * kBlock * kDim, from, kBlock * kDim * 2);
  }

 private:
  static constexpr std::size_t kBytes = static_cast<std::size_t>(kBlocks * kBlock * kDim * 2);
  void* data_;
};

TEST(KnownStorage, OffsetsBeyond32Bits) {
  CallSpec spec;
  spec.num_heads = 4;
  spec.num_kv_heads = 1;
  spec.head_dim = spec.value_dim = HugeCache::kDim;
  spec.storage = KvStorage::kPagedBnNBsD;
  spec.paged.block_size = HugeCache::kBlock;
  spec.query_lengths = {1};
  spec.kv_lengths = {2 * HugeCache::kBlock};
  BuiltCall small(spec);
  BuiltCall huge(spec);
  ASSERT_TRUE(CallMatches(small));
  HugeCache key;
  HugeCache value;
  ASSERT_TRUE(key.mapped() && value.mapped());
  std::int32_t* table = static_cast<std::int32_t*>(huge.params().paged->block_table.data);
  for (int k = 0; k < 2; ++k) {
    const std::int64_t to = k == 0 ? HugeCache::kBlocks - 1 : 0;
    const std::int64_t from = table[k] * HugeCache::kBlock * HugeCache::kDim;
    key.CopyBlock(to, static_cast<std::uint16_t*>(small.params().key[0].data) + from);
    value.CopyBlock(to, static_cast<std::uint16_t*>(small.params().value[0].data) + from);
    table[k] = static_cast<std::int32_t>(to);
  }
  huge.mutable_params()->key[0] = key.view();
  huge.mutable_params()->value[0] = value.view();
  const Status status = huge.Run();
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(huge.Bits(0), small.Bits(0));
}

TEST(KnownStorage, SharedFirstBlocksNeedACacheOfTheirSizeInRelaxedOnly) {
  CallSpec spec;
  spec.storage = KvStorage::kPagedBnNBsD;
  spec.query_lengths = {1, 1, 1};
  spec.kv_lengths = {40, 48, 56};
  spec.common_tokens = spec.paged.shared_tokens = 32;
  EXPECT_TRUE(CallMatches(spec));
  spec.check = Check::kStrict;
  {
    BuiltCall call(spec);
    EXPECT_TRUE(IsRefused(call.params(), StatusCode::kTilingError, "paged"));
  }
  spec.paged.extra_blocks = 4;  // as many blocks as if none were shared
  EXPECT_TRUE(CallMatches(spec));
}

TEST(KnownStorage, FormatsThatNameAxesAreReadByDimsAndStrides) {
  for (const Format format : {Format::kNd, Format::kNchw, Format::kNhwc, Format::kNcl, Format::kNc,
                              Format::kHwcn, Format::kUndefined}) {
    for (const char* layout : {"BSH", "BNSD"}) {
      CallSpec spec;
      spec.layout = layout;
      spec.query_lengths = {3};
      spec.kv_lengths = {21};
      BuiltCall call(spec);
      AttentionParams* params = call.mutable_params();
      for (TensorView* view : {&params->query, &params->key[0], &params->value[0], &params->attention_out})
        view->format = format;
      EXPECT_TRUE(CallMatches(call));
    }
  }
  for (const Format format : {Format::kNcdhw, Format::kNdhwc, Format::kFractalNz}) {
    CallSpec spec;
    spec.storage = KvStorage::kPagedNz;
    spec.kv_lengths = {40};
    BuiltCall call(spec);
    call.mutable_params()->key[0].format = format;
    call.mutable_params()->value[0].format = format;
    EXPECT_TRUE(CallMatches(call));
  }
}

}  // namespace
}  // namespace fia::testing
