// The rule pairs: arguments that come together or not at all.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMlaQueryMode = 3;

// Both or none.
struct Pair {
  Argument first;
  Argument second;
};

constexpr Pair kPairs[] = {
    {Argument::kQueryRope, Argument::kKeyRope},
    {Argument::kKeySharedPrefix, Argument::kValueSharedPrefix},
    {Argument::kKeyAntiquantScale, Argument::kValueAntiquantScale},
    {Argument::kKeyAntiquantOffset, Argument::kValueAntiquantOffset},
};

bool PairFits(Context& context, const Pair& pair) {
  const bool first = context.Used(pair.first) != nullptr;
  if (first == (context.Used(pair.second) != nullptr)) return true;
  return Refuse(
      context, first ? pair.second : pair.first,
      Text("got none with ", ArgumentName(first ? pair.first : pair.second), ", both or none are needed"));
}

// Arguments that a flow of int8 requires and every other call must not give.
bool FlowHas(Context& context, Argument argument, bool flow, const char* what) {
  const bool given = context.Used(argument) != nullptr;
  if (given == flow) return true;
  return Refuse(context, argument,
                Text("got ", given ? "one" : "none", " with query of dtype ", context.params.query.dtype,
                     ", ", what, flow ? " require it" : " only take it"));
}

bool QueryModeFits(Context& context) {
  const std::optional<Quantisation>& quantisation = context.params.quantisation;
  const std::int64_t mode = quantisation && quantisation->int8_mla ? quantisation->int8_mla->query_mode : 0;
  const std::int64_t needed = context.call.flow == Flow::kInt8Mla ? kMlaQueryMode : 0;
  if (mode == needed) return true;
  return Refuse(context, "queryQuantMode",
                Text("got ", mode, ", ", needed != 0 ? "with" : "without",
                     " an int8 query and dequantScaleQuery it must be ", needed));
}

// Scales of the cache exactly with a quantised cache, but for the int8 flow, which has its own.
bool AntiquantGiven(Context& context) {
  const Call& call = context.call;
  const bool needed = call.flow == Flow::kAntiquant || call.flow == Flow::kInt8Mla;
  const bool given = call.antiquant != AntiquantSource::kNone;
  if (given == needed) return true;
  const DataType query = context.params.query.dtype;
  if (needed) {
    return Refuse(context, Argument::kKeyAntiquantScale,
                  Text("got none and no antiquantScale, key of dtype ", call.kv_dtype, " requires scales"));
  }
  Argument scale = Argument::kAntiquantScale;
  if (call.antiquant == AntiquantSource::kSeparate) {
    const bool key = context.Used(Argument::kKeyAntiquantScale) != nullptr;
    scale = key ? Argument::kKeyAntiquantScale : Argument::kValueAntiquantScale;
  }
  return Refuse(context, scale,
                Text("got one with query of dtype ", query, " and key of dtype ", call.kv_dtype,
                     ", it is for int8 and int4 caches under a float query"));
}

}  // namespace

bool CheckPairs(Context& context) {
  for (const Pair& pair : kPairs) {
    if (!PairFits(context, pair)) return false;
  }
  if (context.Used(Argument::kQuantOffset2) != nullptr && context.Used(Argument::kQuantScale2) == nullptr) {
    return Refuse(context, Argument::kQuantOffset2, "got one without quantScale2, it needs that");
  }
  const bool int8_flow = context.call.flow == Flow::kInt8;
  const bool mla = context.call.flow == Flow::kInt8Mla;
  constexpr const char* kInt8Calls = "int8 query, key and value";
  return FlowHas(context, Argument::kDeqScale1, int8_flow, kInt8Calls) &&
         FlowHas(context, Argument::kQuantScale1, int8_flow, kInt8Calls) &&
         FlowHas(context, Argument::kDeqScale2, int8_flow, kInt8Calls) &&
         FlowHas(context, Argument::kDequantScaleQuery, mla, "int8 queries with rope") &&
         QueryModeFits(context) && AntiquantGiven(context);
}

}  // namespace fia::check
