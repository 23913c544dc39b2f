#include "fuzz/places.h"

#include <optional>

#include "core/arguments.h"

namespace fia::testing {
namespace {

template <typename Group>
Group& Make(std::optional<Group>& group) {
  if (!group) group.emplace();
  return *group;
}

Quantisation& QuantisationOf(AttentionParams* params) { return Make(params->quantisation); }

TensorView* QuantisationPlace(Argument argument, AttentionParams* params) {
  switch (argument) {
    case Argument::kDeqScale1:
      return &Make(QuantisationOf(params).int8_flow).deq_scale1;
    case Argument::kQuantScale1:
      return &Make(QuantisationOf(params).int8_flow).quant_scale1;
    case Argument::kDeqScale2:
      return &Make(QuantisationOf(params).int8_flow).deq_scale2;
    case Argument::kQuantScale2:
      return &Make(QuantisationOf(params).int8_output).scale;
    case Argument::kQuantOffset2:
      return &Make(QuantisationOf(params).int8_output).offset;
    case Argument::kAntiquantScale:
      return &AntiquantOf(params).scale;
    case Argument::kAntiquantOffset:
      return &AntiquantOf(params).offset;
    case Argument::kKeyAntiquantScale:
      return &AntiquantOf(params).key_scale;
    case Argument::kKeyAntiquantOffset:
      return &AntiquantOf(params).key_offset;
    case Argument::kValueAntiquantScale:
      return &AntiquantOf(params).value_scale;
    case Argument::kValueAntiquantOffset:
      return &AntiquantOf(params).value_offset;
    case Argument::kDequantScaleQuery:
      return &MlaOf(params).query_scale;
    default:
      return nullptr;
  }
}

}  // namespace

Mask& MaskOf(AttentionParams* params) { return Make(params->mask); }
SequenceLengths& LengthsOf(AttentionParams* params) { return Make(params->lengths); }
PagedCache& PagedOf(AttentionParams* params) { return Make(params->paged); }
SharedPrefix& PrefixOf(AttentionParams* params) { return Make(params->prefix); }
KvAntiquant& AntiquantOf(AttentionParams* params) { return Make(QuantisationOf(params).kv_antiquant); }
Int8Mla& MlaOf(AttentionParams* params) { return Make(QuantisationOf(params).int8_mla); }

TensorView* PlaceOf(Argument argument, AttentionParams* params) {
  switch (argument) {
    case Argument::kQuery:
      return &params->query;
    case Argument::kPseShift:
      return &params->scores.pse_shift;
    case Argument::kAttenMask:
      return &MaskOf(params).tensor;
    case Argument::kBlockTable:
      return &PagedOf(params).block_table;
    case Argument::kQueryPaddingSize:
      return &Make(params->padding).query_size;
    case Argument::kKvPaddingSize:
      return &Make(params->padding).kv_size;
    case Argument::kKeySharedPrefix:
      return &PrefixOf(params).key;
    case Argument::kValueSharedPrefix:
      return &PrefixOf(params).value;
    case Argument::kQueryRope:
      return &Make(params->rope).query;
    case Argument::kKeyRope:
      return &Make(params->rope).key;
    case Argument::kLearnableSink:
      return &params->scores.learnable_sink;
    case Argument::kAttentionOut:
      return &params->attention_out;
    case Argument::kSoftmaxLse:
      return &Make(params->softmax_lse);
    default:
      return QuantisationPlace(argument, params);
  }
}

std::vector<TensorView*> PresentViews(AttentionParams* params) {
  std::vector<TensorView*> views;
  for (int number = 0; number < kArgumentCount; ++number) {
    const auto argument = static_cast<Argument>(number);
    if (argument == Argument::kKey || argument == Argument::kValue) {
      for (TensorView& member : argument == Argument::kKey ? params->key : params->value) {
        if (member.present()) views.push_back(&member);
      }
    } else if (FindTensor(*params, argument) != nullptr) {
      TensorView* view = PlaceOf(argument, params);
      if (view->present()) views.push_back(view);
    }
  }
  return views;
}

}  // namespace fia::testing
