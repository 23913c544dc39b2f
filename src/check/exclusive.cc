// The rule exclusive: features that do not go together.
#include "check/rules.h"

namespace fia::check {
namespace {

// A feature of a call, the parameter that brings it in, and how a message tells it.
struct Feature {
  bool (*present)(const Context& context);
  const char* parameter;
  const char* told;
};

bool IsPacked(const Context& context) { return context.call.layout->packed; }
bool IsPackedNotTnd(const Context& context) { return IsPacked(context) && !LayoutIn(context, "TND"); }
bool IsInt4(const Context& context) { return context.call.kv_dtype == DataType::kInt4; }
bool HasSink(const Context& context) { return context.Used(Argument::kLearnableSink) != nullptr; }
bool IsAntiquant(const Context& context) { return context.call.flow == Flow::kAntiquant; }

constexpr Feature kPaged = {[](const Context& context) { return context.paged; }, "blockTable", "blockTable"};
constexpr Feature kList = {[](const Context& context) { return context.call.tensor_list; }, "key",
                           "a list as key"};
constexpr Feature kPrefix = {[](const Context& context) { return context.prefix; }, "keySharedPrefix",
                             "keySharedPrefix"};
constexpr Feature kQueryPadding = {[](const Context& context) { return context.call.query_left_padded; },
                                   "queryPaddingSize", "queryPaddingSize"};
constexpr Feature kKvPadding = {[](const Context& context) { return context.call.kv_left_padded; },
                                "kvPaddingSize", "kvPaddingSize"};
constexpr Feature kRope = {[](const Context& context) { return context.rope; }, "queryRope", "queryRope"};
constexpr Feature kTwoDims = {
    [](const Context& context) { return context.call.head_dim != context.call.value_dim; }, "value",
    "another D of value than of query"};
constexpr Feature kInt8Query = {
    [](const Context& context) { return context.params.query.dtype == DataType::kInt8; }, "query",
    "query of dtype int8"};
constexpr Feature kPacked = {IsPacked, "inputLayout", "a packed inputLayout"};
constexpr Feature kPackedNotTnd = {IsPackedNotTnd, "inputLayout", "a packed inputLayout other than TND"};
constexpr Feature kPse = {[](const Context& context) { return context.call.has_bias; }, "pseShift",
                          "pseShift"};
constexpr Feature kInt8Output = {[](const Context& context) { return context.int8_output; }, "attentionOut",
                                 "attentionOut of dtype int8"};
constexpr Feature kInt4 = {IsInt4, "key", "key of int4"};
constexpr Feature kAntiquant = {IsAntiquant, "key", "key of int8 or int4 (antiquant)"};
constexpr Feature kAntiquantNotNz = {[](const Context& context) {
                                       return IsAntiquant(context) &&
                                              context.call.cache != CacheForm::kFractalNz;
                                     },
                                     "key", "key of int8 or int4 (antiquant) outside a cache of 5 axes"};
constexpr Feature kSink = {HasSink, "learnableSink", "learnableSink"};
constexpr Feature kQuantised = {
    [](const Context& context) { return context.call.flow != Flow::kFloat || context.int8_output; }, "key",
    "query, key or attentionOut of int8 or int4"};
constexpr Feature kWideDim = {[](const Context& context) { return context.call.head_dim == 512; }, "query",
                              "query's D = 512"};

struct Exclusion {
  const Feature& feature;
  const Feature& other;
  bool strict_only = false;
};

constexpr Exclusion kExclusions[] = {
    {kPrefix, kPaged},
    {kPrefix, kList},
    {kPrefix, kQueryPadding},
    {kPrefix, kKvPadding},
    {kPrefix, kRope},
    {kPrefix, kTwoDims},
    {kPrefix, kInt8Query},
    {kPrefix, kPacked},
    {kQueryPadding, kPaged},
    {kQueryPadding, kList},
    {kQueryPadding, kRope},
    {kQueryPadding, kTwoDims},
    {kQueryPadding, kPacked},
    {kQueryPadding, kInt4},
    {kKvPadding, kPaged},
    {kKvPadding, kList},
    {kKvPadding, kRope},
    {kKvPadding, kTwoDims},
    {kKvPadding, kPacked},
    {kKvPadding, kInt4},
    {kList, kPaged},
    {kList, kRope},
    {kList, kPacked},
    {kPse, kRope},
    {kPse, kPackedNotTnd},
    {kInt8Output, kRope},
    {kInt8Output, kPacked},
    {kInt8Output, kTwoDims},
    {kInt8Output, kInt4},
    {kAntiquant, kRope},
    {kAntiquantNotNz, kPacked},
    {kSink, kQuantised},
    {kSink, kPse, true},
    {kSink, kPrefix, true},
    {kSink, kQueryPadding, true},
    {kSink, kKvPadding, true},
    {kSink, kWideDim, true},
};

}  // namespace

bool CheckExclusive(Context& context) {
  for (const Exclusion& exclusion : kExclusions) {
    if (exclusion.strict_only && !context.strict) continue;
    if (!exclusion.feature.present(context) || !exclusion.other.present(context)) continue;
    return Refuse(
        context, exclusion.feature.parameter,
        Text("got ", exclusion.feature.told, " with ", exclusion.other.told, ", they do not go together"));
  }
  return true;
}

}  // namespace fia::check
