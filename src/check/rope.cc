// The rule rope: queryRope and keyRope.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kRopeDim = 64;

bool Matches(Context& context, Argument argument, const TensorView& rope, const Shape& shape) {
  if (HasShape(rope, shape)) return true;
  const bool query = argument == Argument::kQueryRope;
  return Refuse(
      context, argument,
      Text("got shape ", rope, ", it must be shaped as ", query ? "query" : "key", " with D = 64: ", shape));
}

bool KeyRopeFits(Context& context, const TensorView& rope) {
  const Call& call = context.call;
  if (context.paged) {
    const CacheSizes sizes{call.block_count, call.block_size, call.num_kv_heads, kRopeDim};
    return Matches(context, Argument::kKeyRope, rope, ShapeOf(call.cache, sizes, rope.dtype));
  }
  const Form form = call.layout->input;
  const std::int64_t tokens = context.params.key.front().dims[AxesOf(form).token];
  return Matches(context, Argument::kKeyRope, rope,
                 ShapeOf(form, {call.batch, tokens, call.num_kv_heads, kRopeDim}));
}

bool HardwareFits(Context& context) {
  const Call& call = context.call;
  if (call.head_dim == call.value_dim && call.head_dim == 128) return true;
  if (call.head_dim == call.value_dim && call.head_dim == 512) {
    return call.num_kv_heads == 1 ||
           Refuse(context, "numKeyValueHeads",
                  Text("got ", call.num_kv_heads, ", with queryRope and D = 512 it must be 1"));
  }
  return Refuse(context, Argument::kQueryRope,
                Text("got one with query's D = ", call.head_dim, " and value's D = ", call.value_dim,
                     ", rope needs both 128 or both 512"));
}

}  // namespace

bool CheckRope(Context& context) {
  if (!context.rope) return true;
  const Call& call = context.call;
  const Form form = call.layout->input;
  const std::int64_t tokens = context.params.query.dims[AxesOf(form).token];
  const TensorView* query_rope = context.Used(Argument::kQueryRope);
  const TensorView* key_rope = context.Used(Argument::kKeyRope);
  if (query_rope != nullptr && !Matches(context, Argument::kQueryRope, *query_rope,
                                        ShapeOf(form, {call.batch, tokens, call.num_heads, kRopeDim}))) {
    return false;
  }
  // A tensor list takes no rope: see `exclusive`.
  if (key_rope != nullptr && !call.tensor_list && !KeyRopeFits(context, *key_rope)) return false;
  return !context.strict || HardwareFits(context);
}

}  // namespace fia::check
