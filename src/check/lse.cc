// The rule lse: softmaxLse, looked at only when it is asked for.
#include "check/rules.h"

namespace fia::check {

bool CheckLseType(Context& context) {
  if (!context.params.softmax_lse) return true;
  const TensorView& lse = *context.params.softmax_lse;
  if (!lse.present()) return Refuse(context, Argument::kSoftmaxLse, "got null, softmaxLseFlag requires it");
  if (lse.dtype == DataType::kFloat32) return true;
  return Refuse(context, Argument::kSoftmaxLse, Text("got dtype ", lse.dtype, ", it must be float32"));
}

bool CheckLse(Context& context) {
  if (!CheckLseType(context)) return false;
  if (!context.params.softmax_lse) return true;
  const TensorView& lse = *context.params.softmax_lse;
  const Call& call = context.call;
  const TensorView& query = context.params.query;
  const std::int64_t tokens = query.dims[AxesOf(call.layout->input).token];
  const Shape shape =
      call.layout->packed ? Shape{tokens, call.num_heads, 1} : Shape{call.batch, call.num_heads, tokens, 1};
  if (HasShape(lse, shape)) return true;
  return Refuse(context, Argument::kSoftmaxLse,
                Text("got shape ", lse, ", with query ", query, " it must be ",
                     call.layout->packed ? "(T,N,1) = " : "(B,N,Q_S,1) = ", shape));
}

}  // namespace fia::check
