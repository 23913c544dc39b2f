// The rules layout, heads and shape: what the layout says about the axes of query, key, value and
// attentionOut.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMostBatch = 65536;
constexpr std::int64_t kMostDescribed = std::int64_t{1} << 22;  // sequences: about 1 GiB of plan
constexpr std::int64_t kMostPositions = 20971520;
constexpr std::int64_t kMostDim = 512;
constexpr std::int64_t kMostHeads = 256;
constexpr std::int64_t kMostMlaGroup = 128;

std::string LayoutNames() {
  std::string names;
  for (const Layout& layout : kLayouts) names += Text(names.empty() ? "" : ", ", layout.name);
  return names;
}

// The caller's text may be anything: printable characters only, and not all of a long one.
std::string Printable(const std::string& text) {
  std::string shown = text.substr(0, 40);
  for (char& letter : shown) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return shown;
}

// `heads` (of the parameter `name`) are the head axis of `view`, or in BSH divide its last axis.
bool HeadsFit(Context& context, const char* name, std::int64_t heads, Argument argument,
              const TensorView& view) {
  const FormAxes axes = AxesOf(context.call.layout->input);
  if (view.rank != axes.rank) return true;  // refused by `shape`
  const bool merged = axes.head < 0;
  const std::int64_t axis = view.dims[merged ? axes.dim : axes.head];
  if (merged ? axis % heads == 0 : axis == heads) return true;
  return Refuse(context, name,
                Text("got ", heads, ", ", ArgumentName(argument), " has shape ", view,
                     merged ? ": it must divide the last axis, " : ": it must equal the head axis, ", axis));
}

bool MlaGroupFits(Context& context) {
  const Call& call = context.call;
  const std::int64_t group = call.num_heads / call.num_kv_heads;
  if (!context.strict || call.flow != Flow::kInt8Mla) return true;
  if (group <= kMostMlaGroup && (group & (group - 1)) == 0) return true;
  return Refuse(context, "numHeads",
                Text("got ", call.num_heads, " for numKeyValueHeads = ", call.num_kv_heads,
                     ", with an int8 query their ratio must be a power of two up to ", kMostMlaGroup));
}

// The rank of the layout, for arguments whose other axes are needed to tell theirs.
bool RankFits(Context& context, Argument argument, const TensorView& view, Form form, const char* axes) {
  const int rank = AxesOf(form).rank;
  if (view.rank == rank) return true;
  return Refuse(context, argument,
                Text("got shape ", view, ", inputLayout ", context.call.layout->name, " needs ", axes,
                     " of rank ", std::int64_t{rank}));
}

constexpr const char* AxisNames(Form form) noexcept {
  switch (form) {
    case Form::kBsh:
      return "(B,S,H)";
    case Form::kBsnd:
      return "(B,S,N,D)";
    case Form::kBnsd:
      return "(B,N,S,D)";
    case Form::kNbsd:
      return "(N,B,S,D)";
    case Form::kTnd:
      return "(T,N,D)";
    case Form::kNtd:
      break;
  }
  return "(N,T,D)";
}

bool OutputFits(Context& context) {
  const Call& call = context.call;
  const Form form = call.layout->output;
  const TensorView& query = context.params.query;
  const TensorView& out = context.params.attention_out;
  if (!RankFits(context, Argument::kAttentionOut, out, form, AxisNames(form))) return false;
  const std::int64_t tokens = query.dims[AxesOf(call.layout->input).token];
  const FormSizes sizes{call.batch, tokens, call.num_heads, call.value_dim};
  if (call.value_dim >= 0 && HasShape(out, ShapeOf(form, sizes))) return true;
  const std::int64_t dim = call.value_dim >= 0 ? call.value_dim : call.head_dim;
  return Refuse(
      context, Argument::kAttentionOut,
      Text("got shape ", out, ", with query ", query, " and numHeads = ", call.num_heads, " it must be ",
           AxisNames(form), " = ", ShapeOf(form, {call.batch, tokens, call.num_heads, dim})));
}

bool KeyFits(Context& context) {
  const Call& call = context.call;
  const TensorView& key = context.params.key.front();
  const Form form = call.layout->input;
  if (!RankFits(context, Argument::kKey, key, form, AxisNames(form))) return false;
  const std::int64_t tokens = key.dims[AxesOf(form).token];
  const Shape shape = Stored(context, ShapeOf(form, {call.batch, tokens, call.num_kv_heads, call.head_dim}));
  if (HasShape(key, shape)) return true;
  return Refuse(context, Argument::kKey,
                Text("got shape ", key, ", with query ", context.params.query, " and numKeyValueHeads = ",
                     call.num_kv_heads, " it must be ", AxisNames(form), " = ", shape));
}

bool ValueFits(Context& context) {
  const Call& call = context.call;
  const TensorView& key = context.params.key.front();
  const TensorView& value = context.params.value.front();
  const Form form = call.layout->input;
  const std::int64_t tokens = key.dims[AxesOf(form).token];
  const Shape shape = Stored(context, ShapeOf(form, {call.batch, tokens, call.num_kv_heads, call.value_dim}));
  if (HasShape(value, shape)) return true;
  return Refuse(context, Argument::kValue,
                Text("got shape ", value, ", with key ", key, " and attentionOut ",
                     context.params.attention_out, " it must be ", AxisNames(form), " = ", shape));
}

// Heads of int4 start at whole bytes, packed in int32 at whole words.
bool Int4DimsFit(Context& context) {
  const Call& call = context.call;
  if (call.kv_dtype != DataType::kInt4) return true;
  const std::int64_t step = call.int4_in_int32 ? 8 : 2;
  if (call.head_dim % step == 0 && call.value_dim % step == 0) return true;
  const bool key = call.head_dim % step != 0;
  return Refuse(context, key ? Argument::kKey : Argument::kValue,
                Text("got int4 elements with ", key ? "query's D = " : "attentionOut's D = ",
                     key ? call.head_dim : call.value_dim, ", D must be a multiple of ", step));
}

bool Limited(Context& context, Argument argument, const char* axis, std::int64_t size, std::int64_t most) {
  if (size <= most) return true;
  return Refuse(context, argument, Text("got ", axis, " = ", size, ", at most ", most, " is allowed"));
}

}  // namespace

bool CheckLayout(Context& context) {
  const Call& call = context.call;
  if (call.layout == nullptr) {
    return Refuse(
        context, "inputLayout",
        Text("got \"", Printable(context.params.heads.layout), "\", it must be one of ", LayoutNames()));
  }
  if (!context.strict || !LayoutIn(context, "BSH_NBSD BSND_NBSD BNSD_NBSD TND_NTD")) return true;
  if ((call.head_dim == 512 && context.rope) || call.head_dim < 0) return true;
  return Refuse(context, "inputLayout",
                Text("got ", call.layout->name, " with D = ", call.head_dim,
                     context.rope ? " and" : " and no", " queryRope, it needs D = 512 with rope"));
}

bool CheckHeads(Context& context) {
  const std::int64_t given = context.params.heads.num_kv_heads;
  const Call& call = context.call;
  if (call.num_heads < 1) {
    return Refuse(context, "numHeads", Text("got ", call.num_heads, ", it must be at least 1"));
  }
  if (given < 0) {
    return Refuse(context, "numKeyValueHeads",
                  Text("got ", given, ", it must be >= 0 (0 stands for numHeads)"));
  }
  if (call.num_heads % call.num_kv_heads != 0) {
    return Refuse(context, "numKeyValueHeads",
                  Text("got ", given, ", it must divide numHeads = ", call.num_heads));
  }
  if (!HeadsFit(context, "numHeads", call.num_heads, Argument::kQuery, context.params.query)) return false;
  if (!context.paged &&
      !HeadsFit(context, "numKeyValueHeads", call.num_kv_heads, Argument::kKey, context.params.key.front())) {
    return false;
  }
  if (context.strict && call.num_heads > kMostHeads) {
    return Refuse(context, "numHeads",
                  Text("got ", call.num_heads, ", at most ", kMostHeads, " are allowed"));
  }
  return MlaGroupFits(context);
}

bool CheckShapes(Context& context) {
  const Call& call = context.call;
  const Form form = call.layout->input;
  if (!RankFits(context, Argument::kQuery, context.params.query, form, AxisNames(form))) return false;
  if (!OutputFits(context) || !Int4DimsFit(context)) return false;
  // Members of lists and paged caches have rules of their own.
  if (!call.tensor_list && !context.paged && !(KeyFits(context) && ValueFits(context))) return false;
  const bool usual = call.value_dim == call.head_dim || (call.head_dim == 192 && call.value_dim == 128);
  if (context.strict && !Limited(context, Argument::kQuery, "D", call.head_dim, kMostDim)) return false;
  if (context.strict && !usual) {
    return Refuse(context, Argument::kValue,
                  Text("got D = ", call.value_dim, " where query's D = ", call.head_dim,
                       ", they must be equal or 128 and 192"));
  }
  return CheckAxisLimits(context);
}

bool CheckAxisLimits(Context& context) {
  const Call& call = context.call;
  if (call.batch > kMostDescribed) {  // a batch stride of 0 makes any B possible
    context.rule = "memory";
    return Limited(context, Argument::kQuery, "B", call.batch, kMostDescribed);
  }
  if (!context.strict) return true;
  return Limited(context, Argument::kQuery, "B", call.batch, kMostBatch) &&
         Limited(context, Argument::kQuery, "S", call.query_axis, kMostPositions) &&
         (context.paged || Limited(context, Argument::kKey, "S", call.kv_axis, kMostPositions));
}

}  // namespace fia::check
