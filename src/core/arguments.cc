#include "core/arguments.h"

namespace fia {
namespace {

constexpr const char* kNames[kArgumentCount] = {"query",
                                                "key",
                                                "value",
                                                "pseShift",
                                                "attenMask",
                                                "actualSeqLengths",
                                                "actualSeqLengthsKv",
                                                "deqScale1",
                                                "quantScale1",
                                                "deqScale2",
                                                "quantScale2",
                                                "quantOffset2",
                                                "antiquantScale",
                                                "antiquantOffset",
                                                "blockTable",
                                                "queryPaddingSize",
                                                "kvPaddingSize",
                                                "keyAntiquantScale",
                                                "keyAntiquantOffset",
                                                "valueAntiquantScale",
                                                "valueAntiquantOffset",
                                                "keySharedPrefix",
                                                "valueSharedPrefix",
                                                "actualSharedPrefixLen",
                                                "queryRope",
                                                "keyRope",
                                                "keyRopeAntiquantScale",
                                                "dequantScaleQuery",
                                                "learnableSink",
                                                "attentionOut",
                                                "softmaxLse"};

const TensorView* FindQuantisationTensor(const Quantisation& quantisation, Argument argument) noexcept {
  const KvAntiquant* kv = quantisation.kv_antiquant ? &*quantisation.kv_antiquant : nullptr;
  const Int8Flow* flow = quantisation.int8_flow ? &*quantisation.int8_flow : nullptr;
  const Int8Output* output = quantisation.int8_output ? &*quantisation.int8_output : nullptr;
  switch (argument) {
    case Argument::kDeqScale1:
      return flow ? &flow->deq_scale1 : nullptr;
    case Argument::kQuantScale1:
      return flow ? &flow->quant_scale1 : nullptr;
    case Argument::kDeqScale2:
      return flow ? &flow->deq_scale2 : nullptr;
    case Argument::kQuantScale2:
      return output ? &output->scale : nullptr;
    case Argument::kQuantOffset2:
      return output ? &output->offset : nullptr;
    case Argument::kAntiquantScale:
      return kv ? &kv->scale : nullptr;
    case Argument::kAntiquantOffset:
      return kv ? &kv->offset : nullptr;
    case Argument::kKeyAntiquantScale:
      return kv ? &kv->key_scale : nullptr;
    case Argument::kKeyAntiquantOffset:
      return kv ? &kv->key_offset : nullptr;
    case Argument::kValueAntiquantScale:
      return kv ? &kv->value_scale : nullptr;
    case Argument::kValueAntiquantOffset:
      return kv ? &kv->value_offset : nullptr;
    case Argument::kDequantScaleQuery:
      return quantisation.int8_mla ? &quantisation.int8_mla->query_scale : nullptr;
    default:
      return nullptr;
  }
}

const TensorView* FindAny(const AttentionParams& params, Argument argument) noexcept {
  switch (argument) {
    case Argument::kQuery:
      return &params.query;
    case Argument::kPseShift:
      return &params.scores.pse_shift;
    case Argument::kLearnableSink:
      return &params.scores.learnable_sink;
    case Argument::kAttenMask:
      return params.mask ? &params.mask->tensor : nullptr;
    case Argument::kBlockTable:
      return params.paged ? &params.paged->block_table : nullptr;
    case Argument::kQueryPaddingSize:
      return params.padding ? &params.padding->query_size : nullptr;
    case Argument::kKvPaddingSize:
      return params.padding ? &params.padding->kv_size : nullptr;
    case Argument::kKeySharedPrefix:
      return params.prefix ? &params.prefix->key : nullptr;
    case Argument::kValueSharedPrefix:
      return params.prefix ? &params.prefix->value : nullptr;
    case Argument::kQueryRope:
      return params.rope ? &params.rope->query : nullptr;
    case Argument::kKeyRope:
      return params.rope ? &params.rope->key : nullptr;
    case Argument::kAttentionOut:
      return &params.attention_out;
    case Argument::kSoftmaxLse:
      return params.softmax_lse ? &*params.softmax_lse : nullptr;
    default:
      return params.quantisation ? FindQuantisationTensor(*params.quantisation, argument) : nullptr;
  }
}

}  // namespace

const char* ArgumentName(Argument argument) noexcept { return kNames[static_cast<int>(argument)]; }

const TensorView* FindTensor(const AttentionParams& params, Argument argument) noexcept {
  const TensorView* view = FindAny(params, argument);
  return view != nullptr && view->present() ? view : nullptr;
}

std::int32_t AddressSlot(Argument argument, std::int64_t member, std::int64_t key_members) noexcept {
  if (member == 0) return static_cast<std::int32_t>(argument);
  const std::int64_t first = kArgumentCount + (argument == Argument::kValue ? key_members - 1 : 0);
  return static_cast<std::int32_t>(first + member - 1);
}

}  // namespace fia
