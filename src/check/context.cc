#include "check/context.h"

#include <algorithm>

namespace fia::check {
namespace {

std::size_t IndexOf(Argument argument) noexcept { return static_cast<std::size_t>(argument); }

void SetUse(Context& context, Argument argument, Use use) noexcept {
  context.uses[IndexOf(argument)] = context.tensors[IndexOf(argument)] != nullptr ? use : Use::kNone;
}

bool Given(const Context& context, Argument argument) noexcept {
  return context.tensors[IndexOf(argument)] != nullptr;
}

// The dim of a head of a tensor in `form`; -1 when rank or heads do not fit.
std::int64_t HeadDim(const TensorView& view, Form form, std::int64_t heads) noexcept {
  const FormAxes axes = AxesOf(form);
  if (view.rank != axes.rank) return -1;
  const std::int64_t dim = view.dims[axes.dim];
  if (axes.head >= 0) return dim;
  return heads > 0 && dim >= 0 && dim % heads == 0 ? dim / heads : -1;
}

std::int64_t TokenAxis(const TensorView& view, Form form) noexcept {
  const FormAxes axes = AxesOf(form);
  return view.rank == axes.rank ? view.dims[axes.token] : -1;
}

void ReadTensors(Context& context) noexcept {
  for (int index = 0; index < kArgumentCount; ++index) {
    context.tensors[index] = FindTensor(context.params, static_cast<Argument>(index));
    context.uses[index] = context.tensors[index] != nullptr ? Use::kUsed : Use::kNone;
  }
  context.tensors[IndexOf(Argument::kKey)] = context.params.key.data();
  context.tensors[IndexOf(Argument::kValue)] = context.params.value.data();
  context.uses[IndexOf(Argument::kKey)] = Use::kUsed;
  context.uses[IndexOf(Argument::kValue)] = Use::kUsed;
}

bool AllEmpty(const std::vector<TensorView>& list) noexcept {
  return std::all_of(list.begin(), list.end(), IsEmpty);
}

// Nothing to compute: the outputs are filled, and nothing but them is looked at.
bool NothingToCompute(const Context& context) noexcept {
  const AttentionParams& params = context.params;
  const bool no_output = IsEmpty(params.attention_out);
  if (IsEmpty(params.query) || no_output) return IsEmpty(params.query) && no_output;
  const TensorView* prefix = context.tensors[IndexOf(Argument::kKeySharedPrefix)];
  if (prefix == nullptr) prefix = context.tensors[IndexOf(Argument::kValueSharedPrefix)];
  return (prefix == nullptr || IsEmpty(*prefix)) && AllEmpty(params.key) && AllEmpty(params.value);
}

void ReadTypes(Context& context) noexcept {
  const AttentionParams& params = context.params;
  Call& call = context.call;
  const DataType stored = params.key.front().dtype;
  call.int4_in_int32 = stored == DataType::kInt32;
  call.kv_dtype = call.int4_in_int32 ? DataType::kInt4 : stored;
  context.int8_output = params.attention_out.dtype == DataType::kInt8;
  const std::optional<Quantisation>& quantisation = params.quantisation;
  const bool mla = quantisation && quantisation->int8_mla &&
                   (quantisation->int8_mla->query_scale.present() || quantisation->int8_mla->query_mode != 0);
  if (params.query.dtype == DataType::kInt8) {
    const bool wide = params.attention_out.dtype == DataType::kBfloat16;
    call.flow = mla || wide ? Flow::kInt8Mla : Flow::kInt8;
  } else if (call.kv_dtype == DataType::kInt8 || call.kv_dtype == DataType::kInt4) {
    call.flow = Flow::kAntiquant;
  }
}

// Axes of query, key and attentionOut. Packed layouts: the S axes follow from the lengths.
void ReadAxes(Context& context) noexcept {
  const AttentionParams& params = context.params;
  Call& call = context.call;
  call.num_heads = params.heads.num_heads;
  call.num_kv_heads = params.heads.num_kv_heads == 0 ? call.num_heads : params.heads.num_kv_heads;
  call.layout = FindLayout(params.heads.layout);
  call.head_dim = call.value_dim = call.query_axis = call.kv_axis = -1;
  if (call.layout == nullptr) return;
  const Form form = call.layout->input;
  call.head_dim = HeadDim(params.query, form, call.num_heads);
  call.value_dim = HeadDim(params.attention_out, call.layout->output, call.num_heads);
  if (call.layout->packed) {
    call.batch = params.lengths ? static_cast<std::int64_t>(params.lengths->query.size()) : 0;
    return;
  }
  const int batch_axis = AxesOf(form).batch;
  call.batch = params.query.rank == AxesOf(form).rank ? params.query.dims[batch_axis] : -1;
  call.query_axis = TokenAxis(params.query, form);
  if (context.paged) return;
  for (const TensorView& member : params.key) {
    call.kv_axis = std::max(call.kv_axis, TokenAxis(member, form));
  }
}

void ReadStorage(Context& context) noexcept {
  const AttentionParams& params = context.params;
  Call& call = context.call;
  call.tensor_list = params.key.size() > 1 || params.value.size() > 1;
  call.rope_dim = context.rope ? 64 : 0;
  if (context.paged) {
    const TensorView& table = params.paged->block_table;
    const TensorView& key = params.key.front();
    if (key.rank >= 3 && key.rank <= 5) call.cache = static_cast<CacheForm>(key.rank);
    call.block_size = params.paged->block_size;
    call.block_count = key.rank >= 1 && key.rank <= kMaxRank ? key.dims[0] : 0;
    if (table.rank == 2 && table.dims[1] >= 0 && call.block_size > 0) {
      call.kv_axis = Saturated(table.dims[1], call.block_size);
    }
  }
  if (call.layout == nullptr || !context.prefix) return;
  const TensorView* prefix = context.tensors[IndexOf(Argument::kKeySharedPrefix)];
  call.has_prefix = prefix != nullptr && TokenAxis(*prefix, call.layout->input) > 0;
}

void ReadMask(Context& context) noexcept {
  Call& call = context.call;
  if (const std::optional<Mask>& mask = context.params.mask; mask) {
    constexpr std::int64_t kMost = 2147483647;
    call.sparse_mode = call.decode ? 0 : mask->sparse_mode;
    call.pre_tokens = std::clamp(mask->pre_tokens, -kMost, kMost);
    call.next_tokens = std::clamp(mask->next_tokens, -kMost, kMost);
  }
  for (const Argument argument : {Argument::kAttenMask, Argument::kPseShift}) {
    if (Given(context, argument) && IsEmpty(*context.tensors[IndexOf(argument)])) {
      SetUse(context, argument, Use::kTypeOnly);
    }
  }
  const bool full = call.sparse_mode == 0 || call.sparse_mode == 1;
  call.has_mask = full && context.Used(Argument::kAttenMask) != nullptr;
  call.has_bias = context.Used(Argument::kPseShift) != nullptr;
}

// A sequence of a packed layout has more than one query position. The ends of sequences are not checked yet.
bool SeveralPackedPositions(const std::vector<std::int64_t>& ends) noexcept {
  std::int64_t start = 0;
  for (const std::int64_t end : ends) {
    if (end > 1 && end - 1 > start) return true;
    start = end;
  }
  return false;
}

void ReadPadding(Context& context) noexcept {
  Call& call = context.call;
  const std::optional<SequenceLengths>& lengths = context.params.lengths;
  const bool packed = call.layout != nullptr && call.layout->packed;
  call.query_left_padded = Given(context, Argument::kQueryPaddingSize) && lengths &&
                           !lengths->query.empty() && !call.decode &&
                           (packed ? SeveralPackedPositions(lengths->query) : call.query_axis > 1);
  call.kv_left_padded = Given(context, Argument::kKvPaddingSize) && lengths && !lengths->key_value.empty();
  if (!call.query_left_padded) SetUse(context, Argument::kQueryPaddingSize, Use::kNone);
  if (!call.kv_left_padded) SetUse(context, Argument::kKvPaddingSize, Use::kNone);
}

// Separate scales put the combined ones out of sight, and the other way round.
void ReadScales(Context& context) noexcept {
  Call& call = context.call;
  if (Given(context, Argument::kKeyAntiquantScale) || Given(context, Argument::kValueAntiquantScale)) {
    call.antiquant = AntiquantSource::kSeparate;
  } else if (Given(context, Argument::kAntiquantScale)) {
    call.antiquant = AntiquantSource::kCombined;
  }
  const bool quantised = call.flow == Flow::kAntiquant || call.flow == Flow::kInt8Mla;
  const Use offsets = quantised ? Use::kUsed : Use::kTypeOnly;
  const bool separate = call.antiquant != AntiquantSource::kCombined;
  const bool combined = call.antiquant != AntiquantSource::kSeparate;
  SetUse(context, Argument::kKeyAntiquantOffset, separate ? offsets : Use::kNone);
  SetUse(context, Argument::kValueAntiquantOffset, separate ? offsets : Use::kNone);
  SetUse(context, Argument::kAntiquantOffset, combined ? offsets : Use::kNone);
  if (!combined) SetUse(context, Argument::kAntiquantScale, Use::kNone);
}

void KeepOutputs(Context& context) noexcept {
  for (int index = 0; index < kArgumentCount; ++index) {
    const auto argument = static_cast<Argument>(index);
    if (argument != Argument::kAttentionOut && argument != Argument::kSoftmaxLse) {
      context.uses[index] = Use::kNone;
    }
  }
}

}  // namespace

void ReadFacts(Context& context) noexcept {
  Call& call = context.call;
  ReadTensors(context);
  call.fill_only = NothingToCompute(context);
  if (call.fill_only) {
    KeepOutputs(context);
    return;
  }
  context.paged = Given(context, Argument::kBlockTable);
  context.rope = Given(context, Argument::kQueryRope) || Given(context, Argument::kKeyRope);
  context.prefix = Given(context, Argument::kKeySharedPrefix) || Given(context, Argument::kValueSharedPrefix);
  ReadTypes(context);
  ReadAxes(context);
  ReadStorage(context);
  call.decode = call.query_axis == 1 && LayoutIn(context, "BSH BSND BNSD") && !context.rope &&
                call.head_dim == call.value_dim;
  ReadMask(context);
  ReadPadding(context);
  ReadScales(context);
}

bool Refuse(Context& context, std::string_view parameter, std::string_view text) {
  context.status.code = context.code;
  context.status.parameter = parameter;
  context.status.rule = context.rule;
  context.status.message = Text(parameter, ": ", text, " [", context.rule, "]");
  return false;
}

bool Refuse(Context& context, Argument argument, std::string_view text) {
  return Refuse(context, ArgumentName(argument), text);
}

bool LayoutIn(const Context& context, std::string_view names) noexcept {
  if (context.call.layout == nullptr) return false;
  const std::string_view name = context.call.layout->name;
  for (std::size_t start = 0; start < names.size();) {
    const std::size_t end = std::min(names.find(' ', start), names.size());
    if (names.substr(start, end - start) == name) return true;
    start = end + 1;
  }
  return false;
}

Shape Stored(const Context& context, Shape shape) noexcept {
  if (context.call.int4_in_int32) shape.dims[shape.rank - 1] /= 8;
  return shape;
}

std::int64_t KeyColumns(const Context& context) noexcept {
  const Call& call = context.call;
  if (call.layout->packed) return context.longest_key;
  if (context.paged) return RoundUp(context.longest_key, call.block_size);
  return call.kv_axis + call.prefix_length;
}

}  // namespace fia::check
