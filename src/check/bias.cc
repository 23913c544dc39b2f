// The rules pse and sink: what is added to scores and to the softmax.
#include "check/rules.h"

namespace fia::check {
namespace {

// In TND the bias is an alibi bias, which the accelerator has without mask and in high precision only.
bool AlibiFits(Context& context) {
  if (!context.strict || !context.call.layout->packed) return true;
  const std::int64_t precise = context.params.scores.inner_precise;
  const std::int64_t mode = context.call.sparse_mode;
  if (precise != 0) {
    return Refuse(context, Argument::kPseShift,
                  Text("got one with innerPrecise = ", precise, ", in TND innerPrecise must be 0"));
  }
  if (mode != 0) {
    return Refuse(context, Argument::kPseShift,
                  Text("got one with sparseMode = ", mode, ", in TND sparseMode must be 0"));
  }
  return context.Used(Argument::kAttenMask) == nullptr ||
         Refuse(context, Argument::kPseShift, "got one with attenMask, in TND there may be one of them only");
}

}  // namespace

bool CheckPse(Context& context) {
  const Call& call = context.call;
  if (!call.has_bias || (call.layout->packed && !LayoutIn(context, "TND"))) return true;
  const TensorView& pse = *context.Used(Argument::kPseShift);
  const std::int64_t columns = KeyColumns(context);
  const auto wrong = [&](std::string_view what, std::int64_t size) {
    return Refuse(context, Argument::kPseShift, Text("got shape ", pse, ", ", what, size));
  };
  if (pse.rank != 4) return wrong("it must be (1 or B,N,>=Q_S,>=KV_S) with N = numHeads = ", call.num_heads);
  if (pse.dims[0] != 1 && pse.dims[0] != call.batch)
    return wrong("the first axis must be 1 or query's B = ", call.batch);
  if (pse.dims[1] != call.num_heads) return wrong("the head axis must be numHeads = ", call.num_heads);
  if (pse.dims[2] < call.query_axis)
    return wrong("the row axis must be at least query's Q_S = ", call.query_axis);
  if (pse.dims[3] < columns) return wrong("the last axis must be at least key's KV_S = ", columns);
  return AlibiFits(context);
}

bool CheckSink(Context& context) {
  const TensorView* sink = context.Used(Argument::kLearnableSink);
  if (sink == nullptr) return true;
  const Call& call = context.call;
  if (!HasShape(*sink, {call.num_heads})) {
    return Refuse(context, Argument::kLearnableSink,
                  Text("got shape ", *sink, ", it must be (numHeads) = (", call.num_heads, ")"));
  }
  if (!context.strict || call.value_dim == 64 || call.value_dim == 128) return true;
  return Refuse(context, Argument::kLearnableSink,
                Text("got one with value's D = ", call.value_dim, ", it needs 64 or 128"));
}

}  // namespace fia::check
