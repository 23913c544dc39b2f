// The rules, one function each: true when the call keeps it; otherwise the refusal is in the context. They
// are run in the order of check.cc's tables: each may rely on those before it.
#ifndef FIA_CHECK_RULES_H_
#define FIA_CHECK_RULES_H_

#include "check/context.h"

namespace fia::check {

// Arguments one by one (arguments.cc, strides.cc).
bool CheckNull(Context& context);
bool CheckDims(Context& context);
bool CheckStrides(Context& context);
bool CheckEmpty(Context& context);
bool CheckSingleTypes(Context& context);
bool CheckFormats(Context& context);

// Layout and axes (axes.cc, head_dim.cc).
bool CheckLayout(Context& context);
bool CheckHeads(Context& context);
bool CheckShapes(Context& context);
bool CheckAxisLimits(Context& context);
bool CheckHeadDim(Context& context);

// How types go together (type_table.cc).
bool CheckTypes(Context& context);

// Lengths and storage (lengths.cc, tensor_list.cc, paged.cc).
bool CheckLengths(Context& context);
bool CheckTensorList(Context& context);
bool CheckPaged(Context& context);

// Features (mask.cc, bias.cc, lse.cc, rope.cc, prefix.cc).
bool CheckMask(Context& context);
bool CheckPse(Context& context);
bool CheckSink(Context& context);
bool CheckLse(Context& context);
bool CheckLseType(Context& context);  // all of `lse` that is looked at when there is nothing to compute
bool CheckRope(Context& context);
bool CheckPrefix(Context& context);
bool CheckPadding(Context& context);

// Quantisation (int8.cc, antiquant.cc, post_quant.cc).
bool CheckQuant(Context& context);
bool CheckAntiquant(Context& context);
bool CheckPostQuant(Context& context);
bool CheckMlaQuant(Context& context);

// Numbers (numbers.cc).
bool CheckInnerPrecise(Context& context);
bool CheckScale(Context& context);

// Combinations (pairs.cc, exclusive.cc).
bool CheckPairs(Context& context);
bool CheckExclusive(Context& context);

}  // namespace fia::check

#endif  // FIA_CHECK_RULES_H_
