// Rules on single arguments: nothing but the argument itself is looked at.
#include "check/rules.h"
#include "check/types.h"
#include "check/visit.h"

namespace fia::check {
namespace {

constexpr TypeSet kMaskTypes = Only(DataType::kBool) | kByte | Only(DataType::kUint8);
constexpr TypeSet kKvTypes = kFloats | kByte | kNibble | Only(DataType::kInt32);
constexpr TypeSet kDeqTypes = kSingle | Only(DataType::kUint64);
constexpr TypeSet kAny = 0;  // told by other rules

// What some call may give each argument, by Argument.
constexpr TypeSet kAllowed[kArgumentCount] = {
    kFloats | kByte,         // query
    kKvTypes,                // key
    kKvTypes,                // value
    kFloats,                 // pseShift
    kMaskTypes,              // attenMask
    kAny,                    // actualSeqLengths
    kAny,                    // actualSeqLengthsKv
    kDeqTypes,               // deqScale1
    kSingle,                 // quantScale1
    kDeqTypes,               // deqScale2
    kFloats,                 // quantScale2
    kFloats,                 // quantOffset2
    kFloats,                 // antiquantScale
    kFloats,                 // antiquantOffset
    Only(DataType::kInt32),  // blockTable
    Only(DataType::kInt64),  // queryPaddingSize
    Only(DataType::kInt64),  // kvPaddingSize
    kFloats,                 // keyAntiquantScale
    kFloats,                 // keyAntiquantOffset
    kFloats,                 // valueAntiquantScale
    kFloats,                 // valueAntiquantOffset
    kAny,                    // keySharedPrefix
    kAny,                    // valueSharedPrefix
    kAny,                    // actualSharedPrefixLen
    kFloats,                 // queryRope
    kFloats,                 // keyRope
    kAny,                    // keyRopeAntiquantScale
    kSingle,                 // dequantScaleQuery
    kFloats,                 // learnableSink
    kFloats | kByte,         // attentionOut
    kAny,                    // softmaxLse
};

bool NullMember(Context& context, Argument argument, const std::vector<TensorView>& list) {
  if (list.empty()) return !Refuse(context, argument, "got no tensor, it is required");
  for (std::size_t member = 0; member < list.size(); ++member) {
    if (list[member].present()) continue;
    return !Refuse(context, argument,
                   Text("member ", static_cast<std::int64_t>(member), " of ",
                        static_cast<std::int64_t>(list.size()), " is null, every member is required"));
  }
  return false;
}

bool NullTensor(Context& context, Argument argument, const TensorView& view) {
  return !view.present() && !Refuse(context, argument, "got null, it is required");
}

bool DimsFit(Context& context, const Visited& visited) {
  const TensorView& view = *visited.view;
  if (view.rank > kMaxRank) {
    return Refuse(context, visited.argument,
                  Text(visited.Member(), "got rank ", static_cast<std::int64_t>(view.rank),
                       ", the rank may be at most ", std::int64_t{kMaxRank}));
  }
  std::int64_t bytes = 8;  // of the largest elements; axes of 0 must not hide what else overflows
  for (int axis = 0; axis < view.rank; ++axis) {
    const std::int64_t dim = view.dims[axis];
    if (dim < 0) {
      return Refuse(context, visited.argument,
                    Text(visited.Member(), "got shape ", view, ", dims must be >= 0"));
    }
    if (dim > 0 && !MultiplyChecked(bytes, dim, &bytes)) {
      return Refuse(context, visited.argument,
                    Text(visited.Member(), "got shape ", view, ", its size must fit in 64 bits"));
    }
  }
  return true;
}

// A prefix may have no positions; with one, so may key and value. Empty masks and pseShifts are not used.
bool MayBeEmpty(const Context& context, Argument argument) noexcept {
  switch (argument) {
    case Argument::kKeySharedPrefix:
    case Argument::kValueSharedPrefix:
      return true;
    case Argument::kKey:
    case Argument::kValue:
      return context.call.has_prefix;
    default:
      return false;
  }
}

bool KnownFormat(Format format) noexcept {
  switch (format) {
    case Format::kUndefined:
    case Format::kNchw:
    case Format::kNhwc:
    case Format::kNd:
    case Format::kHwcn:
    case Format::kNdhwc:
    case Format::kNcdhw:
    case Format::kNc:
    case Format::kNcl:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool CheckNull(Context& context) {
  const AttentionParams& params = context.params;
  return !NullTensor(context, Argument::kQuery, params.query) &&
         !NullMember(context, Argument::kKey, params.key) &&
         !NullMember(context, Argument::kValue, params.value) &&
         !NullTensor(context, Argument::kAttentionOut, params.attention_out);
}

bool CheckDims(Context& context) {
  return VisitAll(context, [&context](const Visited& visited) {
    return visited.use != Use::kUsed || DimsFit(context, visited);
  });
}

bool CheckEmpty(Context& context) {
  const TensorView& query = context.params.query;
  const TensorView& out = context.params.attention_out;
  if (IsEmpty(query) != IsEmpty(out)) {
    const bool query_empty = IsEmpty(query);
    return Refuse(
        context, query_empty ? Argument::kQuery : Argument::kAttentionOut,
        Text("got shape ", query_empty ? query : out, " with ", query_empty ? "attentionOut " : "query ",
             query_empty ? out : query, ", both or none may be empty"));
  }
  return VisitAll(context, [&context](const Visited& visited) {
    if (visited.use != Use::kUsed || !IsEmpty(*visited.view)) return true;
    if (MayBeEmpty(context, visited.argument)) return true;
    return Refuse(context, visited.argument,
                  Text(visited.Member(), "got shape ", *visited.view, ", it must not be empty"));
  });
}

bool CheckSingleTypes(Context& context) {
  return VisitAll(context, [&context](const Visited& visited) {
    const TypeSet allowed = kAllowed[static_cast<std::size_t>(visited.argument)];
    if (allowed == kAny || Contains(allowed, visited.view->dtype)) return true;
    return Refuse(
        context, visited.argument,
        Text(visited.Member(), "got dtype ", visited.view->dtype, ", it must be ", NamesOf(allowed)));
  });
}

bool CheckFormats(Context& context) {
  return VisitAll(context, [&context](const Visited& visited) {
    const TensorView& view = *visited.view;
    if (visited.use != Use::kUsed || KnownFormat(view.format)) return true;
    const bool cache = visited.argument == Argument::kKey || visited.argument == Argument::kValue ||
                       visited.argument == Argument::kKeyRope;
    if (view.format == Format::kFractalNz && cache && context.paged && view.rank == 5) return true;
    return Refuse(
        context, visited.argument,
        Text(visited.Member(), "got format ", static_cast<std::int64_t>(view.format),
             view.format == Format::kFractalNz ? " (FRACTAL_NZ), it is for paged caches of 5 axes only"
                                               : ", it must be ND or one that stands for it"));
  });
}

}  // namespace fia::check
