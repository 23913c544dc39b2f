// The rule post_quant: int8 output.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kChannelDimStep = 32;

bool ScaleTypeFits(Context& context, const TensorView& scale) {
  const bool half = context.params.query.dtype == DataType::kFloat16;
  if (scale.dtype == DataType::kFloat32 || (scale.dtype == DataType::kBfloat16 && !half)) return true;
  return Refuse(context, Argument::kQuantScale2,
                Text("got dtype ", scale.dtype, ", with query ", context.params.query.dtype,
                     " it must be float32", half ? "" : " or bfloat16"));
}

// One element, or one for each (head, d).
bool ScaleShapeFits(Context& context, const TensorView& scale) {
  const Call& call = context.call;
  const std::int64_t count = CountOf(scale);
  if (count == 1) return true;
  const std::int64_t channels = Saturated(call.num_heads, call.value_dim);
  const bool any_shape = LayoutIn(context, "BSH BSND BNSD BNSD_BSND");
  if (any_shape ? count == channels : HasShape(scale, {call.num_heads, call.value_dim})) return true;
  return Refuse(context, Argument::kQuantScale2,
                Text("got shape ", scale, ", it must have one element or ",
                     any_shape ? "numHeads * D elements with D = " : "be (numHeads,D) with D = ",
                     call.value_dim, ", numHeads = ", call.num_heads));
}

bool OffsetFits(Context& context, const TensorView& scale) {
  const TensorView* offset = context.Used(Argument::kQuantOffset2);
  if (offset == nullptr) return true;
  if (offset->dtype != scale.dtype) {
    return Refuse(context, Argument::kQuantOffset2,
                  Text("got dtype ", offset->dtype, ", it must be quantScale2's, ", scale.dtype));
  }
  if (HasShape(*offset, ShapeOf(scale))) return true;
  return Refuse(context, Argument::kQuantOffset2,
                Text("got shape ", *offset, ", it must be quantScale2's, ", scale));
}

bool ChannelFits(Context& context, const TensorView& scale) {
  const Call& call = context.call;
  if (CountOf(scale) == 1) return true;
  if (call.query_left_padded || call.kv_left_padded) {
    return Refuse(
        context, Argument::kQuantScale2,
        Text("got shape ", scale, " with ", call.query_left_padded ? "queryPaddingSize" : "kvPaddingSize",
             ", it must have one element"));
  }
  if (context.params.softmax_lse) {
    return Refuse(context, Argument::kQuantScale2,
                  Text("got shape ", scale, " with softmaxLseFlag, it must have one element"));
  }
  if (!context.strict || call.value_dim % kChannelDimStep == 0) return true;
  return Refuse(
      context, Argument::kQuantScale2,
      Text("got shape ", scale, " with D = ", call.value_dim, ", D must be a multiple of ", kChannelDimStep));
}

bool RefuseEmptyRows(Context& context, const char* parameter, std::int64_t got, std::string_view why) {
  return Refuse(
      context, parameter,
      Text("got ", got, " with quantScale2 and sparseMode = ", context.call.sparse_mode, ", ", why));
}

// With an offset no row may be without keys by its band: a sequence of S1 rows and S2 keys.
bool BandReachesKeys(Context& context, std::int64_t index, std::int64_t rows, std::int64_t keys) {
  const Call& call = context.call;
  const bool mode0 =
      call.sparse_mode == 0 && call.has_mask && !call.query_left_padded && !call.kv_left_padded;
  const auto refuse = [&](const char* parameter, std::int64_t got) {
    return RefuseEmptyRows(context, parameter, got,
                           Text("with quantOffset2 sequence ", index, " of ", rows, " rows and ", keys,
                                " keys must have no row without keys"));
  };
  if (mode0 && rows - keys - call.pre_tokens > 0) return refuse("preTokens", call.pre_tokens);
  if (mode0 && call.next_tokens < 0) return refuse("nextTokens", call.next_tokens);
  if (call.sparse_mode == 3 && keys < rows) return refuse("sparseMode", call.sparse_mode);
  if (call.sparse_mode == 4 && call.next_tokens + keys - rows < 0)
    return refuse("nextTokens", call.next_tokens);
  return true;
}

bool BandsFit(Context& context) {
  const Call& call = context.call;
  if (call.decode) return true;
  if (call.sparse_mode == 4 && call.pre_tokens < 0) {
    return RefuseEmptyRows(context, "preTokens", call.pre_tokens, "it must be >= 0");
  }
  if (call.sparse_mode == 4 && call.next_tokens < 0) {
    return RefuseEmptyRows(context, "nextTokens", call.next_tokens, "it must be >= 0");
  }
  if (context.Used(Argument::kQuantOffset2) == nullptr) return true;
  for (std::size_t index = 0; index < call.query_lengths.size(); ++index) {
    const std::int64_t keys = call.prefix_length + call.kv_lengths[index];
    if (!BandReachesKeys(context, static_cast<std::int64_t>(index), call.query_lengths[index], keys))
      return false;
  }
  return true;
}

}  // namespace

bool CheckPostQuant(Context& context) {
  const TensorView* scale = context.Used(Argument::kQuantScale2);
  if (scale == nullptr) {
    return !context.int8_output ||
           Refuse(context, Argument::kQuantScale2, "got none, attentionOut of dtype int8 requires it");
  }
  if (!context.int8_output) {
    return Refuse(context, Argument::kQuantScale2,
                  Text("got one with attentionOut of dtype ", context.params.attention_out.dtype,
                       ", it is for int8 output only"));
  }
  return ScaleTypeFits(context, *scale) && ScaleShapeFits(context, *scale) && OffsetFits(context, *scale) &&
         ChannelFits(context, *scale) && BandsFit(context);
}

}  // namespace fia::check
