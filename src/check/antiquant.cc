// The rule antiquant: an int8 or int4 cache under a float16 or bfloat16 query.
#include "check/antiquant.h"

#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kMostPositions = 16;
constexpr std::int64_t kInt4DimStep = 64;

// Which row of rules a call falls under.
enum class Row { kOnePosition, kSeveralPositions, kFractalNz };

Row RowOf(const Call& call) noexcept {
  if (call.cache == CacheForm::kFractalNz) return Row::kFractalNz;
  return call.query_axis > 1 ? Row::kSeveralPositions : Row::kOnePosition;
}

Argument FirstScale(const Call& call) noexcept {
  return call.antiquant == AntiquantSource::kCombined ? Argument::kAntiquantScale
                                                      : Argument::kKeyAntiquantScale;
}

bool CombinedModeFits(Context& context, Row row) {
  const Call& call = context.call;
  const std::int64_t mode = ModesOf(context).key;
  if (row == Row::kFractalNz) {
    return Refuse(context, Argument::kAntiquantScale,
                  "got one with a cache of 5 axes, that needs keyAntiquantScale and valueAntiquantScale");
  }
  if (mode != 0 && mode != 1)
    return Refuse(context, "antiquantMode", Text("got ", mode, ", it must be 0 or 1"));
  if (call.head_dim == call.value_dim) return true;
  return Refuse(context, Argument::kAntiquantScale,
                Text("got one for query's D = ", call.head_dim, " and value's D = ", call.value_dim,
                     ", they must be equal for scales of both"));
}

bool RefuseModes(Context& context, const char* parameter, std::string_view allowed) {
  const AntiquantModes modes = ModesOf(context);
  return Refuse(
      context, parameter,
      Text("got keyAntiquantMode = ", modes.key, " and valueAntiquantMode = ", modes.value, ", ", allowed));
}

bool SeparateModesFit(Context& context, Row row) {
  const Call& call = context.call;
  const auto [key, value] = ModesOf(context);
  const bool mixed = key == 0 && value == 1;
  if (key < 0 || key > 5) return RefuseModes(context, "keyAntiquantMode", "they must be 0 to 5");
  if (value < 0 || value > 5) return RefuseModes(context, "valueAntiquantMode", "they must be 0 to 5");
  if (key != value && !mixed) {
    return RefuseModes(context, "valueAntiquantMode", "they must be equal, or 0 and 1");
  }
  if (key >= 4 && !context.paged) {
    return RefuseModes(context, "keyAntiquantMode", "4 and 5 are for scales paged by blockTable");
  }
  if (call.kv_dtype == DataType::kInt4 && key != 0 && key != 1 && key != 3) {
    return RefuseModes(context, "keyAntiquantMode", "with int4 they must be 0, 1 or 3, or 0 and 1");
  }
  if (!context.strict) return true;
  if (row != Row::kOnePosition && (mixed || key > 1)) {
    return RefuseModes(context, mixed ? "valueAntiquantMode" : "keyAntiquantMode",
                       row == Row::kFractalNz ? "with a cache of 5 axes they must both be 0 or 1"
                                              : "with several query positions they must both be 0 or 1");
  }
  if (mixed && context.params.query.dtype != DataType::kFloat16) {
    return RefuseModes(context, "valueAntiquantMode", "0 and 1 need a float16 query");
  }
  return true;
}

bool Int4Fits(Context& context, Row row) {
  const Call& call = context.call;
  if (call.kv_dtype != DataType::kInt4) return true;
  if (context.paged)
    return Refuse(context, Argument::kKey, "got dtype int4 with blockTable, paged caches need int8");
  if (row == Row::kSeveralPositions) {
    return Refuse(
        context, Argument::kKey,
        Text("got dtype int4 with query's Q_S = ", call.query_axis, ", several query positions need int8"));
  }
  const std::int64_t odd = call.head_dim % kInt4DimStep != 0 ? call.head_dim : call.value_dim;
  if (!context.strict || odd % kInt4DimStep == 0) return true;
  return Refuse(context, Argument::kKey,
                Text("got dtype int4 with D = ", odd, ", D must be a multiple of ", kInt4DimStep));
}

bool PositionsFit(Context& context) {
  const std::int64_t positions = context.call.query_axis;
  if (positions <= kMostPositions) return true;
  return Refuse(context, Argument::kQuery,
                Text("got Q_S = ", positions, " with ", ArgumentName(FirstScale(context.call)), ", at most ",
                     kMostPositions, " query positions are allowed"));
}

bool QueryTypeIs(Context& context, DataType dtype) {
  const DataType query = context.params.query.dtype;
  if (query == dtype) return true;
  return Refuse(context, Argument::kQuery,
                Text("got dtype ", query, ", with ", ArgumentName(FirstScale(context.call)),
                     " and Q_S = ", context.call.query_axis, " it must be ", dtype));
}

bool OutputIsFloat(Context& context) {
  return !context.int8_output ||
         Refuse(context, Argument::kAttentionOut,
                Text("got dtype int8 with keyAntiquantScale and Q_S = ", context.call.query_axis,
                     ", it must be query's, ", context.params.query.dtype));
}

// What the accelerator needs with several query positions.
bool SeveralPositionsFit(Context& context) {
  const Call& call = context.call;
  if (!context.strict) return true;
  if (call.antiquant == AntiquantSource::kCombined) return QueryTypeIs(context, DataType::kFloat16);
  if (!PositionsFit(context) || !QueryTypeIs(context, DataType::kBfloat16) || !OutputIsFloat(context))
    return false;
  if (call.tensor_list) {
    return Refuse(context, Argument::kKey,
                  "got a list with keyAntiquantScale, with several query positions it must be one tensor");
  }
  if (call.query_left_padded || call.kv_left_padded) {
    return Refuse(context, call.query_left_padded ? Argument::kQueryPaddingSize : Argument::kKvPaddingSize,
                  "got one with keyAntiquantScale and several query positions");
  }
  return !context.paged || Refuse(context, Argument::kKey,
                                  "got a paged cache with keyAntiquantScale, with several query positions it "
                                  "must have 5 axes");
}

bool FractalMaskFits(Context& context) {
  const Call& call = context.call;
  const bool mask = context.Used(Argument::kAttenMask) != nullptr;
  if (call.query_axis <= 1) {
    return !mask || call.has_mask ||
           Refuse(context, "sparseMode",
                  Text("got ", call.sparse_mode,
                       ", with int8 caches of 5 axes and one query position it must be "
                       "0 or 1"));
  }
  if (call.sparse_mode == 3 || (call.sparse_mode == 0 && !mask)) return true;
  return Refuse(context, "sparseMode",
                Text("got ", call.sparse_mode, mask ? " with" : " without",
                     " attenMask, with int8 caches of 5 axes "
                     "and several query positions it must be 0 without attenMask or 3"));
}

bool FractalHardwareFits(Context& context) {
  const Call& call = context.call;
  if (!PositionsFit(context) || !QueryTypeIs(context, DataType::kBfloat16)) return false;
  for (const Argument offset : {Argument::kKeyAntiquantOffset, Argument::kValueAntiquantOffset}) {
    if (context.Used(offset) != nullptr) {
      return Refuse(context, offset, "got one with a cache of 5 axes, it must be null");
    }
  }
  if (call.head_dim != 128 || call.value_dim != 128) {
    return Refuse(context, Argument::kKey,
                  Text("got D = ", call.head_dim, ", int8 caches of 5 axes need D = 128"));
  }
  if (context.params.scores.inner_precise != 1) {
    return Refuse(context, "innerPrecise",
                  Text("got ", context.params.scores.inner_precise, ", int8 caches of 5 axes need 1"));
  }
  if (call.block_size != 128 && call.block_size != 512) {
    return Refuse(context, "blockSize",
                  Text("got ", call.block_size, ", int8 caches of 5 axes need 128 or 512"));
  }
  if (!call.layout->packed) return true;
  for (const Argument argument : {Argument::kKeyAntiquantScale, Argument::kValueAntiquantScale}) {
    const TensorView* scale = context.Used(argument);
    if (scale == nullptr || (ModesOf(context).key == 0 && CountOf(*scale) > 1)) continue;
    return Refuse(
        context, argument,
        Text("got shape ", *scale, ", inputLayout ", call.layout->name, " needs scales per channel"));
  }
  return true;
}

bool FractalFits(Context& context) {
  if (!LayoutIn(context, "BSH BSND BNSD TND")) {
    return Refuse(
        context, "inputLayout",
        Text("got ", context.call.layout->name, ", int8 caches of 5 axes need BSH, BSND, BNSD or TND"));
  }
  if (!OutputIsFloat(context) || !FractalMaskFits(context)) return false;
  return !context.strict || FractalHardwareFits(context);
}

}  // namespace

AntiquantModes ModesOf(const Context& context) noexcept {
  const KvAntiquant& kv = *context.params.quantisation->kv_antiquant;
  if (context.call.antiquant == AntiquantSource::kSeparate) return {kv.key_mode, kv.value_mode};
  const std::int64_t mode = context.call.query_axis > 1 ? 0 : kv.mode;
  return {mode, mode};
}

bool CheckAntiquant(Context& context) {
  const Call& call = context.call;
  if (call.flow != Flow::kAntiquant) return true;
  const Row row = RowOf(call);
  if (!Int4Fits(context, row)) return false;
  if (call.antiquant == AntiquantSource::kNone) return true;  // refused by `pairs`
  const bool combined = call.antiquant == AntiquantSource::kCombined;
  if (!(combined ? CombinedModeFits(context, row) : SeparateModesFit(context, row))) return false;
  if (!AntiquantScalesFit(context)) return false;
  if (row == Row::kFractalNz) return FractalFits(context);
  return row == Row::kOnePosition || SeveralPositionsFit(context);
}

}  // namespace fia::check
