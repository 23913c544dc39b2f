// The part of the rule antiquant that looks at modes, shapes and types of scales and offsets.
#include "check/antiquant.h"
#include "check/scale_shape.h"

namespace fia::check {
namespace {

constexpr int kMostPatterns = 7;

// What one way to scale looks like. Patterns as in scale_shape.h; unused ones are empty.
struct ScaleKind {
  std::int64_t mode;
  bool per_token;  // float32, else the query's type
  std::string_view patterns[kMostPatterns];
};

constexpr ScaleKind kSeparateKinds[] = {
    {0, false, {"1"}},                                            // tensor
    {0, false, {"1N1D", "11ND", "1ND", "1H", "N1D", "ND", "H"}},  // channel
    {1, true, {"1BS", "BS"}},                                     // token
    {2, false, {"N"}},                                            // head
    {3, true, {"1BNS", "BNS"}},                                   // token and head
    {4, true, {"KP"}},                                            // token, paged with the cache
    {5, true, {"KNP"}},                                           // token and head, paged
};

// A leading axis of 2: key, value.
constexpr ScaleKind kCombinedKinds[] = {
    {0, false, {"2"}},                          // tensor
    {0, false, {"2N1D", "21ND", "2ND", "2H"}},  // channel
    {1, true, {"2BS"}},                         // token
};

struct Kinds {
  const ScaleKind* begin;
  const ScaleKind* end;
};

bool HasKind(const TensorView& view, const ScaleKind& kind, const PatternSizes& sizes) noexcept {
  for (const std::string_view pattern : kind.patterns) {
    if (!pattern.empty() && Matches(view, pattern, sizes)) return true;
  }
  return false;
}

std::string ShapesOf(const Kinds& kinds, std::int64_t mode, const PatternSizes& sizes) {
  std::string text;
  for (const ScaleKind* kind = kinds.begin; kind != kinds.end; ++kind) {
    if (kind->mode != mode) continue;
    for (const std::string_view pattern : kind->patterns) {
      if (!pattern.empty()) text += Text(text.empty() ? "" : ", ", Filled(pattern, sizes));
    }
  }
  return text;
}

// A scale of mode `mode`, and its offset if there is one: shaped alike.
struct ScalePair {
  Argument scale;
  Argument offset;
  const char* mode_name;
  std::int64_t mode;
};

bool TypeFits(Context& context, Argument argument, const TensorView& view, const ScaleKind& kind) {
  const DataType dtype = kind.per_token ? DataType::kFloat32 : context.params.query.dtype;
  if (view.dtype == dtype) return true;
  return Refuse(context, argument,
                Text("got dtype ", view.dtype, ", it must be ", dtype,
                     kind.per_token ? " for scales of tokens" : ", as query's"));
}

bool PairFits(Context& context, const ScalePair& pair, const Kinds& kinds, const PatternSizes& sizes) {
  const TensorView* scale = context.Used(pair.scale);
  if (scale == nullptr) return true;  // refused by `pairs`
  const ScaleKind* kind = kinds.begin;
  while (kind != kinds.end && !(kind->mode == pair.mode && HasKind(*scale, *kind, sizes))) ++kind;
  if (kind == kinds.end) {
    return Refuse(context, pair.scale,
                  Text("got shape ", *scale, ", ", pair.mode_name, " = ", pair.mode, " needs one of ",
                       ShapesOf(kinds, pair.mode, sizes)));
  }
  if (!TypeFits(context, pair.scale, *scale, *kind)) return false;
  const TensorView* offset = context.Used(pair.offset);
  if (offset == nullptr) return true;
  if (!HasKind(*offset, *kind, sizes)) {
    return Refuse(
        context, pair.offset,
        Text("got shape ", *offset, ", it must be shaped as ", ArgumentName(pair.scale), ", ", *scale));
  }
  return TypeFits(context, pair.offset, *offset, *kind);
}

PatternSizes SizesFor(const Context& context, std::int64_t dim) noexcept {
  const Call& call = context.call;
  return {call.batch, call.num_kv_heads, dim, KeyColumns(context), call.block_count, call.block_size};
}

}  // namespace

bool AntiquantScalesFit(Context& context) {
  const Call& call = context.call;
  const AntiquantModes modes = ModesOf(context);
  const PatternSizes key = SizesFor(context, call.head_dim);
  const PatternSizes value = SizesFor(context, call.value_dim);
  if (call.antiquant == AntiquantSource::kCombined) {
    const Kinds kinds{std::begin(kCombinedKinds), std::end(kCombinedKinds)};
    return PairFits(context,
                    {Argument::kAntiquantScale, Argument::kAntiquantOffset, "antiquantMode", modes.key},
                    kinds, key);
  }
  const Kinds kinds{std::begin(kSeparateKinds), std::end(kSeparateKinds)};
  return PairFits(
             context,
             {Argument::kKeyAntiquantScale, Argument::kKeyAntiquantOffset, "keyAntiquantMode", modes.key},
             kinds, key) &&
         PairFits(context,
                  {Argument::kValueAntiquantScale, Argument::kValueAntiquantOffset, "valueAntiquantMode",
                   modes.value},
                  kinds, value);
}

}  // namespace fia::check
