#include "check/check.h"

#include "check/context.h"
#include "check/rules.h"

namespace fia {
namespace {

using check::Context;

struct Rule {
  const char* name;
  bool (*holds)(Context& context);
  StatusCode code = StatusCode::kTilingError;
};

constexpr Rule kNullRule = {"null", check::CheckNull, StatusCode::kNullPointer};

// In the order in which they are checked: of two broken rules the earlier one is told.
constexpr Rule kRules[] = {
    {"dims", check::CheckDims},
    {"strides", check::CheckStrides},
    {"empty", check::CheckEmpty},
    {"dtype", check::CheckSingleTypes, StatusCode::kInvalidParameter},
    {"format", check::CheckFormats, StatusCode::kInvalidParameter},
    {"layout", check::CheckLayout},
    {"heads", check::CheckHeads},
    {"shape", check::CheckShapes},
    {"head_dim", check::CheckHeadDim},
    {"dtype", check::CheckTypes},
    {"lengths", check::CheckLengths},
    {"tensor_list", check::CheckTensorList},
    {"shape", check::CheckAxisLimits},  // again: the S axes of packed layouts and lists are known only now
    {"paged", check::CheckPaged},
    {"mask", check::CheckMask},
    {"pse", check::CheckPse},
    {"sink", check::CheckSink},
    {"lse", check::CheckLse},
    {"rope", check::CheckRope},
    {"prefix", check::CheckPrefix},
    {"padding", check::CheckPadding},
    {"quant", check::CheckQuant},
    {"antiquant", check::CheckAntiquant},
    {"post_quant", check::CheckPostQuant},
    {"mla_quant", check::CheckMlaQuant},
    {"inner_precise", check::CheckInnerPrecise},
    {"scale", check::CheckScale},
    {"pairs", check::CheckPairs},
    {"exclusive", check::CheckExclusive},
};

// When there is nothing to compute only the outputs are looked at: they are filled by their own dims.
constexpr Rule kFillRules[] = {
    {"dims", check::CheckDims},
    {"strides", check::CheckStrides},
    {"dtype", check::CheckSingleTypes, StatusCode::kInvalidParameter},
    {"lse", check::CheckLseType},
};

bool Holds(const Rule& rule, Context& context) {
  context.rule = rule.name;
  context.code = rule.code;
  return rule.holds(context);
}

template <std::size_t count>
bool AllHold(const Rule (&rules)[count], Context& context) {
  for (const Rule& rule : rules) {
    if (!Holds(rule, context)) return false;
  }
  return true;
}

}  // namespace

Status CheckCall(const AttentionParams& params, Call* call) {
  *call = Call{};
  Context context{params, *call};
  context.strict = params.execution.check == Check::kStrict;
  if (!Holds(kNullRule, context)) return context.status;
  check::ReadFacts(context);
  if (call->fill_only) {
    AllHold(kFillRules, context);
  } else {
    AllHold(kRules, context);
  }
  return context.status;
}

}  // namespace fia
