// The rule head_dim: which head dims storage, rope, layouts and types allow.
#include "check/rules.h"

namespace fia::check {
namespace {

// Pairs of D and Dv, alone or with rope, that the accelerator has in some layouts.
struct DimPair {
  std::int64_t head_dim;
  std::int64_t value_dim;
  bool rope;
};

constexpr DimPair kDimPairs[] = {
    {64, 64, false}, {128, 128, false}, {192, 128, false}, {128, 128, true}, {512, 512, true}};

bool IsListed(const Context& context, std::int64_t most) noexcept {
  const Call& call = context.call;
  for (const DimPair& pair : kDimPairs) {
    if (pair.head_dim <= most && pair.head_dim == call.head_dim && pair.value_dim == call.value_dim &&
        pair.rope == context.rope) {
      return true;
    }
  }
  return false;
}

bool DivisibleBy(Context& context, Argument argument, std::int64_t dim, std::int64_t step, const char* why) {
  if (dim % step == 0) return true;
  return Refuse(context, argument, Text("got D = ", dim, ", ", why, " it must be a multiple of ", step));
}

bool FractalDimsFit(Context& context) {
  const Call& call = context.call;
  if (call.cache != CacheForm::kFractalNz) return true;
  const std::int64_t step = FractalDim(context.params.key.front().dtype);
  return DivisibleBy(context, Argument::kKey, call.head_dim, step, "in a cache of 5 axes") &&
         DivisibleBy(context, Argument::kValue, call.value_dim, step, "in a cache of 5 axes");
}

// queryRope and keyRope have 64 elements a head. Caches of rank 5 tell their dim by two axes: see `rope`.
bool RopeDimFits(Context& context, Argument argument, std::int64_t heads, bool merged_cache) {
  const TensorView* rope = context.Used(argument);
  if (rope == nullptr || rope->rank < 1 || rope->rank > 4) return true;
  const bool merged = merged_cache || (context.call.layout->input == Form::kBsh && rope->rank == 3);
  const std::int64_t last = rope->dims[rope->rank - 1];
  if (last == (merged ? Saturated(heads, 64) : 64)) return true;
  return Refuse(context, argument,
                Text("got shape ", *rope, ", the rotary part has D = 64",
                     merged ? ", its last axis must be heads * 64" : " as its last axis"));
}

bool RopeDimsFit(Context& context) {
  const Call& call = context.call;
  const bool merged_cache = call.cache == CacheForm::kBlockTokenHidden;
  if (!RopeDimFits(context, Argument::kQueryRope, call.num_heads, false)) return false;
  const TensorView* key_rope = context.Used(Argument::kKeyRope);
  if (context.paged && key_rope != nullptr && key_rope->rank != static_cast<int>(call.cache)) return true;
  return RopeDimFits(context, Argument::kKeyRope, call.num_kv_heads, merged_cache);
}

bool PackedDimsFit(Context& context) {
  const Call& call = context.call;
  if (IsListed(context, 512)) return true;
  const bool plain = LayoutIn(context, "TND") && context.params.scores.inner_precise == 0 && !context.rope;
  if (plain && call.head_dim == call.value_dim && call.head_dim <= 256) return true;
  return Refuse(
      context, Argument::kQuery,
      Text("got D = ", call.head_dim, " and value's D = ", call.value_dim,
           context.rope ? " with rope" : " without rope", ", inputLayout ", call.layout->name,
           " needs 64, 128 or 192/128, with rope 128 or 512 (TND with innerPrecise 0 also any equal D "
           "up to 256)"));
}

bool TransposedDimsFit(Context& context) {
  const Call& call = context.call;
  if (IsListed(context, 192)) return true;
  return Refuse(context, Argument::kQuery,
                Text("got D = ", call.head_dim, " and value's D = ", call.value_dim,
                     context.rope ? " with rope" : " without rope", ", inputLayout ", call.layout->name,
                     " needs 64, 128 or 192/128, with rope 128"));
}

bool SeveralRowsDimsFit(Context& context) {
  const Call& call = context.call;
  if (call.query_axis <= 1) return true;
  const bool bytes = context.params.query.dtype == DataType::kInt8 || call.kv_dtype == DataType::kInt8 ||
                     context.int8_output;
  const std::int64_t step = bytes ? 32 : 16;
  const char* why = bytes ? "with int8 and several query positions" : "with several query positions";
  return DivisibleBy(context, Argument::kQuery, call.head_dim, step, why) &&
         DivisibleBy(context, Argument::kValue, call.value_dim, step, why);
}

}  // namespace

bool CheckHeadDim(Context& context) {
  if (!FractalDimsFit(context) || !RopeDimsFit(context)) return false;
  if (!context.strict) return true;
  if (context.call.layout->packed) return PackedDimsFit(context);
  if (LayoutIn(context, "BSH_BNSD BSND_BNSD") && !TransposedDimsFit(context)) return false;
  return SeveralRowsDimsFit(context);
}

}  // namespace fia::check
