#include "fuzz/operator_arguments.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "aclnnop/aclnn_fused_infer_attention_score_v4.h"
#include "fuzz/fuzz_call.h"

namespace fia::testing {
namespace {

constexpr std::size_t kMostDims = 64;          // of a tensor of the C interface
constexpr std::size_t kLayoutCharacters = 32;  // as many as are read

// The layout in memory of its own size. Longer ones lack the end that nobody looks for.
std::unique_ptr<char[]> LayoutText(const std::string& layout) {
  const std::size_t size = std::min(layout.size() + 1, kLayoutCharacters);
  auto text = std::make_unique<char[]>(size);
  std::memcpy(text.get(), layout.c_str(), size);
  return text;
}

}  // namespace

OperatorArguments::OperatorArguments(const AttentionParams& params, Cursor* cursor) {
  for (int number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (const TensorView* view = FindTensor(params, argument)) handles_[number] = MakeTensor(*view, cursor);
  }
  handles_[static_cast<int>(Argument::kKey)] = MakeList(params.key, cursor);
  handles_[static_cast<int>(Argument::kValue)] = MakeList(params.value, cursor);
  if (params.lengths) {
    handles_[static_cast<int>(Argument::kActualSeqLengths)] = MakeArray(params.lengths->query);
    handles_[static_cast<int>(Argument::kActualSeqLengthsKv)] = MakeArray(params.lengths->key_value);
  }
  if (params.prefix)
    handles_[static_cast<int>(Argument::kActualSharedPrefixLen)] = MakeArray(params.prefix->length);
  if (cursor->Chance(32)) SpoilHandle(cursor);
}

const aclTensor* OperatorArguments::MakeTensor(const TensorView& view, Cursor* cursor) {
  // Arrays that end where the dims do.
  const std::size_t rank = std::min<std::size_t>(static_cast<std::size_t>(view.rank), kMostDims);
  std::vector<std::int64_t> dims(rank), strides(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims[axis] = view.dims[axis % kMaxRank];
    strides[axis] = view.strides[axis % kMaxRank];
  }
  if (rank > static_cast<std::size_t>(kMaxRank)) faithful_ = false;
  std::int64_t offset = 0;
  void* data = view.data;
  const std::int64_t bits = BitsOf(view.dtype);
  if (cursor->Chance(3)) {
    offset = cursor->Number();
    addressed_ = faithful_ = false;
  } else if (cursor->Chance(16) && data != nullptr) {
    offset = 2 * cursor->Below(9);
    data = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) -
                                   static_cast<std::uintptr_t>(offset * bits / 8));
    if (view.dtype != static_cast<DataType>(29) && bits == 64) addressed_ = addressed_ && offset == 0;
  }
  const aclTensor* tensor =
      aclCreateTensor(dims.data(), rank, static_cast<aclDataType>(view.dtype), strides.data(), offset,
                      static_cast<aclFormat>(view.format), dims.data(), rank, data);
  made_.push_back({Kind::kTensor, tensor});
  return tensor;
}

const aclTensorList* OperatorArguments::MakeList(const std::vector<TensorView>& members, Cursor* cursor) {
  std::vector<const aclTensor*> handles;
  for (const TensorView& member : members)
    handles.push_back(member.present() ? MakeTensor(member, cursor) : nullptr);
  const aclTensorList* list = aclCreateTensorList(handles.data(), handles.size());
  made_.push_back({Kind::kList, list});
  return list;
}

const aclIntArray* OperatorArguments::MakeArray(const std::vector<std::int64_t>& values) {
  if (values.empty()) return nullptr;
  const aclIntArray* array = aclCreateIntArray(values.data(), values.size());
  made_.push_back({Kind::kArray, array});
  return array;
}

// One argument becomes something that is not what it should be, or no longer.
void OperatorArguments::SpoilHandle(Cursor* cursor) {
  faithful_ = false;
  const void*& handle = handles_[cursor->Below(kArgumentCount)];
  switch (cursor->Below(6)) {
    case 0:
      handle = nullptr;
      return;
    case 1:
      handle = at(cursor->Below(kArgumentCount));
      return;
    case 2:
      handle = this;
      return;
    case 3:
      handle = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(cursor->Number()));
      return;
    case 4: {
      const aclTensor* member[] = {nullptr};
      handle = aclCreateTensorList(member, static_cast<std::uint64_t>(cursor->Below(2)));
      made_.push_back({Kind::kList, handle});
      return;
    }
    default: {
      const Made& made =
          made_[static_cast<std::size_t>(cursor->Below(static_cast<std::int64_t>(made_.size())))];
      aclDestroyTensor(static_cast<const aclTensor*>(made.handle));
      aclDestroyTensorList(static_cast<const aclTensorList*>(made.handle));
    }
  }
}

void OperatorArguments::Destroy(bool backwards) {
  if (backwards) std::reverse(made_.begin(), made_.end());
  for (const Made& made : made_) {
    if (made.kind == Kind::kTensor) aclDestroyTensor(static_cast<const aclTensor*>(made.handle));
    if (made.kind == Kind::kList) aclDestroyTensorList(static_cast<const aclTensorList*>(made.handle));
    if (made.kind == Kind::kArray) aclDestroyIntArray(static_cast<const aclIntArray*>(made.handle));
  }
}

aclnnStatus OperatorArguments::PhaseOne(const AttentionParams& params, std::uint64_t* size,
                                        aclOpExecutor** executor) {
  const auto t = [this](Argument argument) { return static_cast<const aclTensor*>(at(argument)); };
  const auto l = [this](Argument argument) { return static_cast<const aclTensorList*>(at(argument)); };
  const auto a = [this](Argument argument) { return static_cast<const aclIntArray*>(at(argument)); };
  const Mask mask = params.mask.value_or(Mask());
  const Quantisation quantisation = params.quantisation.value_or(Quantisation());
  const KvAntiquant antiquant = quantisation.kv_antiquant.value_or(KvAntiquant());
  const std::int64_t query_mode = quantisation.int8_mla ? quantisation.int8_mla->query_mode : 0;
  const std::unique_ptr<char[]> layout = LayoutText(params.heads.layout);
  return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
      t(Argument::kQuery), l(Argument::kKey), l(Argument::kValue), t(Argument::kPseShift),
      t(Argument::kAttenMask), a(Argument::kActualSeqLengths), a(Argument::kActualSeqLengthsKv),
      t(Argument::kDeqScale1), t(Argument::kQuantScale1), t(Argument::kDeqScale2), t(Argument::kQuantScale2),
      t(Argument::kQuantOffset2), t(Argument::kAntiquantScale), t(Argument::kAntiquantOffset),
      t(Argument::kBlockTable), t(Argument::kQueryPaddingSize), t(Argument::kKvPaddingSize),
      t(Argument::kKeyAntiquantScale), t(Argument::kKeyAntiquantOffset), t(Argument::kValueAntiquantScale),
      t(Argument::kValueAntiquantOffset), t(Argument::kKeySharedPrefix), t(Argument::kValueSharedPrefix),
      a(Argument::kActualSharedPrefixLen), t(Argument::kQueryRope), t(Argument::kKeyRope),
      t(Argument::kKeyRopeAntiquantScale), t(Argument::kDequantScaleQuery), t(Argument::kLearnableSink),
      params.heads.num_heads, params.scores.scale, mask.pre_tokens, mask.next_tokens, layout.get(),
      params.heads.num_kv_heads, mask.sparse_mode, params.scores.inner_precise,
      params.paged ? params.paged->block_size : 0, antiquant.mode, params.softmax_lse.has_value(),
      antiquant.key_mode, antiquant.value_mode, query_mode, t(Argument::kAttentionOut),
      t(Argument::kSoftmaxLse), size, executor);
}

}  // namespace fia::testing
