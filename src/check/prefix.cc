// The rules prefix and padding: keys that all sequences share, and sequences that end at the end of the axis.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr const char* kUsualLayouts = "BSH BSND BNSD BNSD_BSND";

bool UsualLayout(Context& context, Argument argument) {
  if (!context.strict || context.call.layout->packed || LayoutIn(context, kUsualLayouts)) return true;
  return Refuse(context, argument,
                Text("got one with inputLayout ", context.call.layout->name,
                     ", it needs BSH, BSND, BNSD or BNSD_BSND"));
}

// The batch-1 form of key or value with the prefix's own S.
bool PrefixFits(Context& context, Argument argument, std::int64_t dim) {
  const TensorView* view = context.Used(argument);
  if (view == nullptr) return true;
  const Call& call = context.call;
  const DataType dtype = context.params.key.front().dtype;
  if (view->dtype != dtype) {
    return Refuse(context, argument, Text("got dtype ", view->dtype, ", it must be key's, ", dtype));
  }
  const Form form = call.layout->input;
  const TensorView* key = context.Used(Argument::kKeySharedPrefix);
  const TensorView& counted = key != nullptr ? *key : *view;
  const FormAxes axes = AxesOf(form);
  const std::int64_t tokens = counted.rank == axes.rank ? counted.dims[axes.token] : 0;
  const Shape shape = Stored(context, ShapeOf(form, {1, tokens, call.num_kv_heads, dim}));
  if (HasShape(*view, shape)) return true;
  const bool value = argument == Argument::kValueSharedPrefix && key != nullptr;
  return Refuse(
      context, argument,
      Text("got shape ", *view, value ? Text(", with keySharedPrefix ", *key) : Text(","), " and key ",
           context.params.key.front(), " it must be the form of one sequence, ", shape));
}

bool SizeFits(Context& context, Argument argument) {
  const TensorView* size = context.Used(argument);
  if (size == nullptr) return true;
  if (CountOf(*size) != 1) {
    return Refuse(context, argument, Text("got shape ", *size, ", it must have one element"));
  }
  return UsualLayout(context, argument);
}

}  // namespace

bool CheckPrefix(Context& context) {
  // Packed layouts take no prefix: see `exclusive`.
  if (!context.prefix || context.call.layout->packed) return true;
  const Call& call = context.call;
  if (!PrefixFits(context, Argument::kKeySharedPrefix, call.head_dim)) return false;
  if (!PrefixFits(context, Argument::kValueSharedPrefix, call.value_dim)) return false;
  return UsualLayout(context, Argument::kKeySharedPrefix);
}

bool CheckPadding(Context& context) {
  return SizeFits(context, Argument::kQueryPaddingSize) && SizeFits(context, Argument::kKvPaddingSize);
}

}  // namespace fia::check
