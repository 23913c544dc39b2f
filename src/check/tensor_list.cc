// The rule tensor_list: key and value as one tensor for each sequence.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMostMembers = 256;

bool CountFits(Context& context, Argument argument, const std::vector<TensorView>& list) {
  const auto count = static_cast<std::int64_t>(list.size());
  if (count == context.call.batch) return true;
  return Refuse(context, argument,
                Text("got ", count, " tensors, key and value must both have 1 or both have B = ",
                     context.call.batch, " (query's batch)"));
}

// Member `index` of key (its own S) or value (key's S) has the batch-1 form.
bool MemberFits(Context& context, Argument argument, const std::vector<TensorView>& list, std::size_t index) {
  const Call& call = context.call;
  const Form form = call.layout->input;
  const FormAxes axes = AxesOf(form);
  const TensorView& member = list[index];
  const TensorView& key = context.params.key[index];
  const std::int64_t tokens = key.rank == axes.rank ? key.dims[axes.token] : 0;
  const std::int64_t dim = argument == Argument::kKey ? call.head_dim : call.value_dim;
  const Shape shape = Stored(context, ShapeOf(form, {1, tokens, call.num_kv_heads, dim}));
  if (HasShape(member, shape)) return true;
  return Refuse(context, argument,
                Text("member ", static_cast<std::int64_t>(index), " has shape ", member, ", with query ",
                     context.params.query, ", attentionOut ", context.params.attention_out, " and key ", key,
                     " it must be ", shape));
}

}  // namespace

bool CheckTensorList(Context& context) {
  const Call& call = context.call;
  if (!call.tensor_list) return true;
  const std::vector<TensorView>& key = context.params.key;
  const std::vector<TensorView>& value = context.params.value;
  if (!LayoutIn(context, "BSH BSND BNSD BNSD_BSND")) {
    return Refuse(context, Argument::kKey,
                  Text("got ", static_cast<std::int64_t>(key.size()), " tensors with inputLayout ",
                       call.layout->name, ", lists need BSH, BSND, BNSD or BNSD_BSND"));
  }
  if (context.paged) return true;  // refused by `exclusive`
  if (!CountFits(context, Argument::kKey, key) || !CountFits(context, Argument::kValue, value)) return false;
  if (context.strict && call.batch > kMostMembers) {
    return Refuse(context, Argument::kKey,
                  Text("got ", call.batch, " tensors, at most ", kMostMembers, " are allowed"));
  }
  for (std::size_t index = 0; index < key.size(); ++index) {
    if (!MemberFits(context, Argument::kKey, key, index)) return false;
    if (!MemberFits(context, Argument::kValue, value, index)) return false;
  }
  return true;
}

}  // namespace fia::check
