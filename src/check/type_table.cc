// The rule dtype: which types go together.
#include "check/rules.h"
#include "check/types.h"

namespace fia::check {
namespace {

struct TypeRow {
  TypeSet query;
  TypeSet kv;
  TypeSet out;
  bool relaxed_only = false;
};

constexpr TypeRow kTypeTable[] = {
    {kHalf, kHalf, kHalf | kByte},
    {kBfloat, kBfloat, kBfloat | kByte},
    {kHalf, kByte, kHalf | kByte},
    {kBfloat, kByte, kBfloat | kByte},
    {kHalf, kNibble, kHalf},
    {kBfloat, kNibble, kBfloat},
    {kByte, kByte, kHalf | kBfloat | kByte},  // bfloat16: multi-head latent attention
    {kSingle, kSingle, kSingle, true},
};

bool MembersAgree(Context& context, Argument argument, const std::vector<TensorView>& list) {
  const DataType dtype = context.params.key.front().dtype;
  for (const TensorView& member : list) {
    if (member.dtype == dtype) continue;
    return Refuse(context, argument,
                  Text("got dtype ", member.dtype, ", key and value must have one dtype, key's is ", dtype));
  }
  return true;
}

bool TripleFits(Context& context) {
  const DataType query = context.params.query.dtype;
  const DataType out = context.params.attention_out.dtype;
  const DataType kv = context.call.kv_dtype;
  TypeSet keys = 0;
  for (const TypeRow& row : kTypeTable) {
    if (!Contains(row.query, query) || (row.relaxed_only && context.strict)) continue;
    keys |= row.kv;
    if (!Contains(row.kv, kv)) continue;
    TypeSet outs = row.out;
    if (context.call.flow == Flow::kInt8Mla) outs = kBfloat;
    if (Contains(outs, out)) return true;
    return Refuse(
        context, Argument::kAttentionOut,
        Text("got dtype ", out, ", with query ", query, " and key ", kv, " it must be ", NamesOf(outs)));
  }
  if (keys == 0) {
    return Refuse(context, Argument::kQuery, Text("got dtype ", query, ", that needs relaxed checking"));
  }
  return Refuse(context, Argument::kKey,
                Text("got dtype ", kv, ", with query ", query, " it must be ", NamesOf(keys)));
}

bool HasType(Context& context, Argument argument, DataType dtype, const char* why) {
  const TensorView* view = context.Used(argument);
  if (view == nullptr || view->dtype == dtype) return true;
  return Refuse(context, argument, Text("got dtype ", view->dtype, ", ", why, " it must be ", dtype));
}

}  // namespace

bool CheckTypes(Context& context) {
  if (!MembersAgree(context, Argument::kKey, context.params.key) ||
      !MembersAgree(context, Argument::kValue, context.params.value) || !TripleFits(context)) {
    return false;
  }
  const DataType query = context.params.query.dtype;
  const bool bytes = query == DataType::kInt8;
  const char* why = bytes ? "with an int8 query" : "as query's";
  const DataType rope = bytes ? DataType::kBfloat16 : query;
  const DataType bias = bytes ? DataType::kFloat16 : query;
  if (!HasType(context, Argument::kQueryRope, rope, why)) return false;
  if (!HasType(context, Argument::kKeyRope, rope, why)) return false;
  if (!HasType(context, Argument::kPseShift, bias, why)) return false;
  // An int8 query takes no sink at all: see `exclusive`.
  return bytes || HasType(context, Argument::kLearnableSink, query, why);
}

}  // namespace fia::check
