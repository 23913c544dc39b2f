// The rules quant and mla_quant: int8 queries.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMlaDim = 512;
constexpr std::int64_t kMlaBlockTokens = 128;
constexpr std::int64_t kMlaMostPositions = 16;

bool OneElement(Context& context, Argument argument) {
  const TensorView* view = context.Used(argument);
  if (view == nullptr || CountOf(*view) == 1) return true;  // null: refused by `pairs`
  return Refuse(context, argument, Text("got shape ", *view, ", it must have one element"));
}

// dequantScaleQuery: one scale for each row and head, the query's shape without D.
bool QueryScaleFits(Context& context) {
  const TensorView* scale = context.Used(Argument::kDequantScaleQuery);
  if (scale == nullptr) return true;  // refused by `pairs`
  const Call& call = context.call;
  const std::int64_t tokens = context.params.query.dims[AxesOf(call.layout->input).token];
  const Shape shape =
      call.layout->packed ? Shape{tokens, call.num_heads} : Shape{call.batch, tokens, call.num_heads};
  if (HasShape(*scale, shape)) return true;
  return Refuse(context, Argument::kDequantScaleQuery,
                Text("got shape ", *scale, ", it must be query's without D, ", shape));
}

bool CacheScaleFits(Context& context, Argument scale, Argument offset, const char* mode_name,
                    std::int64_t mode) {
  const TensorView* view = context.Used(scale);
  if (view == nullptr)
    return Refuse(context, scale, "got none, an int8 query with dequantScaleQuery requires it");
  if (view->dtype != DataType::kFloat32) {
    return Refuse(context, scale, Text("got dtype ", view->dtype, ", with an int8 query it must be float32"));
  }
  if (!HasShape(*view, {1})) {
    return Refuse(context, scale, Text("got shape ", *view, ", with an int8 query it must be (1)"));
  }
  if (context.Used(offset) != nullptr)
    return Refuse(context, offset, "got one, with an int8 query it must be null");
  return mode == 0 || Refuse(context, mode_name, Text("got ", mode, ", with an int8 query it must be 0"));
}

bool CacheScalesFit(Context& context) {
  const std::optional<Quantisation>& quantisation = context.params.quantisation;
  const KvAntiquant none;
  const KvAntiquant& kv = quantisation && quantisation->kv_antiquant ? *quantisation->kv_antiquant : none;
  return CacheScaleFits(context, Argument::kKeyAntiquantScale, Argument::kKeyAntiquantOffset,
                        "keyAntiquantMode", kv.key_mode) &&
         CacheScaleFits(context, Argument::kValueAntiquantScale, Argument::kValueAntiquantOffset,
                        "valueAntiquantMode", kv.value_mode);
}

bool MlaMaskFits(Context& context) {
  const Call& call = context.call;
  const bool mask = context.Used(Argument::kAttenMask) != nullptr;
  const bool plain = call.sparse_mode == 0 && !mask;
  const bool causal = call.sparse_mode == 3;
  const bool one = call.query_axis == 1;
  if (call.layout->packed ? plain || causal : one ? plain : causal) return true;
  const char* allowed = call.layout->packed ? "0 without attenMask or 3" : one ? "0 without attenMask" : "3";
  return Refuse(context, "sparseMode",
                Text("got ", call.sparse_mode, mask ? " with" : " without",
                     " attenMask, with dequantScaleQuery, Q_S = ", call.query_axis, " and inputLayout ",
                     call.layout->name, " it must be ", allowed));
}

bool MlaStorageFits(Context& context) {
  const Call& call = context.call;
  if (!context.paged || call.cache != CacheForm::kFractalNz) {
    return Refuse(context, context.paged ? Argument::kKey : Argument::kBlockTable,
                  Text(context.paged ? "got shape " : "got none with key ", context.params.key.front(),
                       ", dequantScaleQuery needs a paged cache of 5 axes"));
  }
  if (!context.strict) return true;
  if (call.block_size != kMlaBlockTokens) {
    return Refuse(context, "blockSize",
                  Text("got ", call.block_size, ", with dequantScaleQuery it must be ", kMlaBlockTokens));
  }
  if (call.query_axis <= kMlaMostPositions) return true;
  return Refuse(
      context, Argument::kQuery,
      Text("got Q_S = ", call.query_axis, ", with dequantScaleQuery it may be at most ", kMlaMostPositions));
}

}  // namespace

bool CheckQuant(Context& context) {
  const Call& call = context.call;
  if (call.flow != Flow::kInt8) return true;
  if (call.layout->packed) {
    return Refuse(context, Argument::kQuery,
                  Text("got dtype int8 with inputLayout ", call.layout->name, ", it needs a padded layout"));
  }
  if (call.query_axis <= 1) {
    return Refuse(context, Argument::kQuery,
                  Text("got dtype int8 with Q_S = ", call.query_axis, ", it needs several query positions"));
  }
  if (context.paged)
    return Refuse(context, Argument::kBlockTable, "got one with query of dtype int8, it must be null");
  if (context.rope)
    return Refuse(context, Argument::kQueryRope, "got one with query of dtype int8, it must be null");
  return OneElement(context, Argument::kDeqScale1) && OneElement(context, Argument::kQuantScale1) &&
         OneElement(context, Argument::kDeqScale2);
}

bool CheckMlaQuant(Context& context) {
  const Call& call = context.call;
  if (call.flow != Flow::kInt8Mla) return true;
  if (!context.rope) {
    return Refuse(context, Argument::kQueryRope, "got none, an int8 query with bfloat16 output requires it");
  }
  if (call.head_dim != kMlaDim || call.value_dim != kMlaDim) {
    return Refuse(context, Argument::kQuery,
                  Text("got D = ", call.head_dim, " and value's D = ", call.value_dim,
                       ", an int8 query with dequantScaleQuery needs 512 for both"));
  }
  if (!LayoutIn(context, "BSH BSND TND BSH_NBSD BSND_NBSD TND_NTD")) {
    return Refuse(context, "inputLayout",
                  Text("got ", call.layout->name,
                       ", dequantScaleQuery needs BSH, BSND, TND, BSH_NBSD, BSND_NBSD or TND_NTD"));
  }
  return MlaStorageFits(context) && QueryScaleFits(context) && CacheScalesFit(context) &&
         MlaMaskFits(context);
}

}  // namespace fia::check
