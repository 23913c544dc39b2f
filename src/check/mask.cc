// The rule mask: sparseMode, its tokens and the shape of attenMask.
#include "check/rules.h"

namespace fia::check {
namespace {

constexpr std::int64_t kBandMaskSide = 2048;  // of the mask tensors of modes 2 to 4

bool ModeFits(Context& context, bool given) {
  const Call& call = context.call;
  const std::int64_t mode = call.sparse_mode;
  if (mode < 0 || mode > 4) return Refuse(context, "sparseMode", Text("got ", mode, ", it must be 0 to 4"));
  if (mode != 0 && !given) {
    return Refuse(context, Argument::kAttenMask, Text("got none, sparseMode = ", mode, " requires it"));
  }
  if (!context.strict) return true;
  if (call.layout->packed && (mode == 1 || mode == 2 || (mode == 0 && given))) {
    return Refuse(context, "sparseMode",
                  Text("got ", mode, given ? " with" : " without", " attenMask, inputLayout ",
                       call.layout->name, " takes 0 without attenMask, 3 or 4"));
  }
  if (call.head_dim == 512 && (mode == 1 || mode == 2)) {
    return Refuse(context, "sparseMode", Text("got ", mode, ", with D = 512 it must be 0, 3 or 4"));
  }
  return true;
}

bool TokensFit(Context& context) {
  const Call& call = context.call;
  const bool used = call.sparse_mode == 4 || (call.sparse_mode == 0 && call.has_mask &&
                                              !call.query_left_padded && !call.kv_left_padded);
  if (!used || -call.next_tokens <= call.pre_tokens) return true;
  return Refuse(context, "preTokens",
                Text("got ", call.pre_tokens, " with nextTokens = ", call.next_tokens,
                     ", preTokens must be at least -nextTokens"));
}

bool BandMaskFits(Context& context, const TensorView& mask) {
  for (const Shape& shape : {Shape{kBandMaskSide, kBandMaskSide}, Shape{1, kBandMaskSide, kBandMaskSide},
                             Shape{1, 1, kBandMaskSide, kBandMaskSide}}) {
    if (HasShape(mask, shape)) return true;
  }
  return Refuse(context, Argument::kAttenMask,
                Text("got shape ", mask, ", sparseMode = ", context.call.sparse_mode,
                     " needs (2048,2048), (1,2048,2048) or (1,1,2048,2048)"));
}

// The axes of a full mask before its last two: batch is 1 or B, head is 1.
bool LeadingAxesFit(const Call& call, const TensorView& mask) noexcept {
  if (mask.rank >= 3 && mask.dims[0] != 1 && mask.dims[0] != call.batch) return false;
  return mask.rank < 4 || mask.dims[1] == 1;
}

bool RefuseFullMask(Context& context, const TensorView& mask, bool one_row, std::int64_t columns) {
  const Call& call = context.call;
  if (!one_row) {
    return Refuse(context, Argument::kAttenMask,
                  Text("got shape ", mask, ", a full mask is (1 or B,1,>=Q_S,>=KV_S) with query's B = ",
                       call.batch, ", Q_S = ", call.query_axis, ", key's KV_S = ", columns,
                       ", axes but the last two may be left out from the front"));
  }
  const bool band = mask.rank >= 2 && mask.dims[mask.rank - 1] == kBandMaskSide &&
                    mask.dims[mask.rank - 2] == kBandMaskSide;
  return Refuse(context, Argument::kAttenMask,
                Text("got shape ", mask,
                     ", with one query position a mask is (B,>=KV_S), (1 or B,1,>=KV_S) or "
                     "(1 or B,1,1,>=KV_S) with query's B = ",
                     call.batch, ", key's KV_S = ", columns,
                     band ? "; the causal 2048 x 2048 mask would hide all keys but the first" : ""));
}

bool FullMaskFits(Context& context, const TensorView& mask) {
  const Call& call = context.call;
  const std::int64_t columns = KeyColumns(context);
  const bool one_row = call.query_axis == 1 && !call.layout->packed;
  if (mask.rank < 2 || mask.rank > 4 || mask.dims[mask.rank - 1] < columns || !LeadingAxesFit(call, mask)) {
    return RefuseFullMask(context, mask, one_row, columns);
  }
  const std::int64_t rows = mask.dims[mask.rank - 2];
  if (mask.rank > 2) {
    const bool fits = one_row ? rows == 1 : rows >= call.query_axis;
    return fits || RefuseFullMask(context, mask, one_row, columns);
  }
  if (one_row ? rows != call.batch : rows < call.query_axis) {
    return RefuseFullMask(context, mask, one_row, columns);
  }
  const bool plain =
      LayoutIn(context, "BSH BSND BNSD BNSD_BSND") && !context.rope && call.head_dim == call.value_dim;
  return plain ||
         Refuse(context, Argument::kAttenMask,
                Text("got shape ", mask,
                     ", masks of 2 axes need inputLayout BSH, BSND, BNSD or BNSD_BSND without rope and "
                     "with equal D of query and value; inputLayout is ",
                     call.layout->name));
}

}  // namespace

bool CheckMask(Context& context) {
  const Call& call = context.call;
  const TensorView* mask = context.Used(Argument::kAttenMask);
  if (call.decode) return mask == nullptr || FullMaskFits(context, *mask);
  if (!ModeFits(context, mask != nullptr) || !TokensFit(context)) return false;
  if (mask == nullptr) return true;
  return call.sparse_mode >= 2 ? BandMaskFits(context, *mask) : FullMaskFits(context, *mask);
}

}  // namespace fia::check
