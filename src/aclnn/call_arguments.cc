#include "aclnn/call_arguments.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "aclnn/array.h"
#include "aclnn/error_text.h"

namespace fia::aclnn {
namespace {

// The group that `group` holds, made when it is first needed.
template <typename Group>
Group& Make(std::optional<Group>& group) {
  if (!group) group.emplace();
  return *group;
}

KvAntiquant& Antiquant(AttentionParams& params) { return Make(Make(params.quantisation).kv_antiquant); }
Int8Flow& Flow(AttentionParams& params) { return Make(Make(params.quantisation).int8_flow); }
Int8Output& Output(AttentionParams& params) { return Make(Make(params.quantisation).int8_output); }
Int8Mla& Mla(AttentionParams& params) { return Make(Make(params.quantisation).int8_mla); }

// An argument: its name, and where the native parameters keep it. One of the three places is given; none for
// an argument that is not looked at.
struct ArgumentRow {
  const char* name;
  TensorView& (*tensor)(AttentionParams&) = nullptr;
  std::vector<TensorView>& (*list)(AttentionParams&) = nullptr;
  std::vector<std::int64_t>& (*array)(AttentionParams&) = nullptr;
};

using Params = AttentionParams;
using View = TensorView;

constexpr ArgumentRow kArguments[] = {
    {.name = "query", .tensor = [](Params& p) -> View& { return p.query; }},
    {.name = "key", .list = [](Params& p) -> std::vector<View>& { return p.key; }},
    {.name = "value", .list = [](Params& p) -> std::vector<View>& { return p.value; }},
    {.name = "pseShift", .tensor = [](Params& p) -> View& { return p.scores.pse_shift; }},
    {.name = "attenMask", .tensor = [](Params& p) -> View& { return Make(p.mask).tensor; }},
    {.name = "actualSeqLengths",
     .array = [](Params& p) -> std::vector<std::int64_t>& { return Make(p.lengths).query; }},
    {.name = "actualSeqLengthsKv",
     .array = [](Params& p) -> std::vector<std::int64_t>& { return Make(p.lengths).key_value; }},
    {.name = "deqScale1", .tensor = [](Params& p) -> View& { return Flow(p).deq_scale1; }},
    {.name = "quantScale1", .tensor = [](Params& p) -> View& { return Flow(p).quant_scale1; }},
    {.name = "deqScale2", .tensor = [](Params& p) -> View& { return Flow(p).deq_scale2; }},
    {.name = "quantScale2", .tensor = [](Params& p) -> View& { return Output(p).scale; }},
    {.name = "quantOffset2", .tensor = [](Params& p) -> View& { return Output(p).offset; }},
    {.name = "antiquantScale", .tensor = [](Params& p) -> View& { return Antiquant(p).scale; }},
    {.name = "antiquantOffset", .tensor = [](Params& p) -> View& { return Antiquant(p).offset; }},
    {.name = "blockTable", .tensor = [](Params& p) -> View& { return Make(p.paged).block_table; }},
    {.name = "queryPaddingSize", .tensor = [](Params& p) -> View& { return Make(p.padding).query_size; }},
    {.name = "kvPaddingSize", .tensor = [](Params& p) -> View& { return Make(p.padding).kv_size; }},
    {.name = "keyAntiquantScale", .tensor = [](Params& p) -> View& { return Antiquant(p).key_scale; }},
    {.name = "keyAntiquantOffset", .tensor = [](Params& p) -> View& { return Antiquant(p).key_offset; }},
    {.name = "valueAntiquantScale", .tensor = [](Params& p) -> View& { return Antiquant(p).value_scale; }},
    {.name = "valueAntiquantOffset", .tensor = [](Params& p) -> View& { return Antiquant(p).value_offset; }},
    {.name = "keySharedPrefix", .tensor = [](Params& p) -> View& { return Make(p.prefix).key; }},
    {.name = "valueSharedPrefix", .tensor = [](Params& p) -> View& { return Make(p.prefix).value; }},
    {.name = "actualSharedPrefixLen",
     .array = [](Params& p) -> std::vector<std::int64_t>& { return Make(p.prefix).length; }},
    {.name = "queryRope", .tensor = [](Params& p) -> View& { return Make(p.rope).query; }},
    {.name = "keyRope", .tensor = [](Params& p) -> View& { return Make(p.rope).key; }},
    {.name = "keyRopeAntiquantScale"},
    {.name = "dequantScaleQuery", .tensor = [](Params& p) -> View& { return Mla(p).query_scale; }},
    {.name = "learnableSink", .tensor = [](Params& p) -> View& { return p.scores.learnable_sink; }},
    {.name = "attentionOut", .tensor = [](Params& p) -> View& { return p.attention_out; }},
    {.name = "softmaxLse", .tensor = [](Params& p) -> View& { return Make(p.softmax_lse); }},
};
static_assert(std::size(kArguments) == kArgumentCount);

constexpr Argument kRequired[] = {Argument::kQuery, Argument::kKey, Argument::kValue,
                                  Argument::kAttentionOut};

// As many tensors as most calls have.
constexpr std::size_t kUsualBindings = 16;

const ArgumentRow& RowOf(Argument argument) { return kArguments[static_cast<int>(argument)]; }

Status NullRefusal(Argument argument, const std::string& what) {
  return Refusal(StatusCode::kNullPointer, RowOf(argument).name, "null", what);
}

// Finds the tensor behind `binding->handle` and adds the binding.
Status BindTensor(Binding binding, const char* what, ReadCall* call) {
  binding.tensor = TableOf<Tensor>().Find(binding.handle);
  if (!binding.tensor) {
    const std::string member =
        binding.list == nullptr ? "" : "member " + std::to_string(binding.member) + " ";
    return NullRefusal(binding.argument, member + what);
  }
  call->bindings.push_back(std::move(binding));
  return {};
}

Status BindList(Argument argument, const void* handle, ReadCall* call) {
  const auto list = TableOf<TensorList>().Find(handle);
  if (!list) return NullRefusal(argument, "is no live list: destroyed, or never made");
  if (list->members.empty()) return NullRefusal(argument, "is a list without members; at least 1 is needed");
  std::int64_t member = 0;
  for (const void* tensor : list->members) {
    Binding binding;
    binding.argument = argument;
    binding.member = member++;
    binding.handle = tensor;
    binding.list = handle;
    Status status = BindTensor(std::move(binding), "is null or destroyed; every member must be live", call);
    if (!status.ok()) return status;
  }
  return {};
}

// Everything but the required ones' presence: what each handle stands for.
Status BindArgument(Argument argument, const void* handle, const Attributes& attributes, ReadCall* call) {
  const ArgumentRow& row = RowOf(argument);
  if (row.list != nullptr) return BindList(argument, handle, call);
  if (row.array != nullptr) {
    const auto array = TableOf<IntArray>().Find(handle);
    if (!array) return NullRefusal(argument, "is no live array: destroyed, or never made");
    row.array(call->params) = array->values;
    return {};
  }
  Binding binding;
  binding.argument = argument;
  binding.handle = handle;
  if (row.tensor == nullptr || (argument == Argument::kSoftmaxLse && !attributes.softmax_lse)) {
    call->bindings.push_back(std::move(binding));
    return {};
  }
  return BindTensor(std::move(binding), "is no live tensor: destroyed, or never made", call);
}

// Puts the views of all bound tensors into the parameters.
Status PlaceViews(ReadCall* call) {
  for (Binding& binding : call->bindings) {
    if (!binding.tensor) continue;
    const ArgumentRow& row = RowOf(binding.argument);
    if (!ByteOffset(*binding.tensor, &binding.byte_offset)) {
      return Refusal(StatusCode::kTilingError, row.name, "strides",
                     "offset " + std::to_string(binding.tensor->offset) +
                         " elements; allowed is an offset >= 0 to a whole byte within the address space");
    }
    const TensorView view = ViewOf(*binding.tensor, binding.byte_offset);
    if (row.list != nullptr) {
      row.list(call->params).push_back(view);
    } else {
      row.tensor(call->params) = view;
    }
  }
  return {};
}

// No name of a layout is as long as this: more characters are not read.
constexpr std::size_t kMaxLayoutName = 32;

void PlaceAttributes(const Attributes& attributes, AttentionParams* params) {
  params->heads.layout = attributes.layout == nullptr
                             ? std::string("null")
                             : std::string(attributes.layout, strnlen(attributes.layout, kMaxLayoutName));
  params->heads.num_heads = attributes.num_heads;
  params->heads.num_kv_heads = attributes.num_kv_heads;
  params->scores.scale = attributes.scale;
  params->scores.inner_precise = attributes.inner_precise;
  Mask& mask = Make(params->mask);
  mask.sparse_mode = attributes.sparse_mode;
  mask.pre_tokens = attributes.pre_tokens;
  mask.next_tokens = attributes.next_tokens;
  if (params->paged) params->paged->block_size = attributes.block_size;
  if (params->quantisation && params->quantisation->kv_antiquant) {
    KvAntiquant& antiquant = *params->quantisation->kv_antiquant;
    antiquant.mode = attributes.antiquant_mode;
    antiquant.key_mode = attributes.key_antiquant_mode;
    antiquant.value_mode = attributes.value_antiquant_mode;
  }
  if (attributes.query_quant_mode != 0) Mla(*params);
  if (params->quantisation && params->quantisation->int8_mla) {
    params->quantisation->int8_mla->query_mode = attributes.query_quant_mode;
  }
  // Asked for without a tensor: an absent view, which is refused.
  if (attributes.softmax_lse) Make(params->softmax_lse);
  // A length alone is no prefix.
  if (params->prefix && !params->prefix->key.present() && !params->prefix->value.present()) {
    params->prefix.reset();
  }
}

}  // namespace

Status ReadArguments(const Handles& handles, const Attributes& attributes, ReadCall* call) {
  for (const Argument argument : kRequired) {
    if (handles.at[static_cast<int>(argument)] == nullptr) {
      return NullRefusal(argument, "is null, but is always needed");
    }
  }
  call->bindings.reserve(kUsualBindings);
  for (int number = 0; number < kArgumentCount; ++number) {
    if (handles.at[number] == nullptr) continue;
    Status status = BindArgument(static_cast<Argument>(number), handles.at[number], attributes, call);
    if (!status.ok()) return status;
  }
  Status status = PlaceViews(call);
  if (status.ok()) PlaceAttributes(attributes, &call->params);
  return status;
}

}  // namespace fia::aclnn
