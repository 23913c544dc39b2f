// The choices that random calls of every kind make alike: lengths, their forms, views, masks.
#include <algorithm>
#include <initializer_list>

#include "support/call_geometry.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kUnlimited = 2147483647;

std::int64_t RandomKeys(Rng* rng, const LengthBounds& bounds) {
  if (bounds.empty && rng->Chance(0.05)) return 0;
  std::int64_t keys = rng->Between(1, 20);
  if (rng->Chance(0.45)) keys = rng->Between(21, 140);
  if (rng->Chance(0.25)) keys = Pick(rng, {31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 258});
  if (rng->Chance(0.04)) keys = rng->Between(1000, 1100);
  return std::min(keys, bounds.most_keys);
}

bool AllEqual(const std::vector<std::int64_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

Rng CallRng(std::uint64_t seed, std::uint64_t index) {
  return Rng(seed * 0x2545f4914f6cdd1du + index * 0x9e3779b97f4a7c15u + 1);
}

std::int64_t Pick(Rng* rng, std::initializer_list<std::int64_t> values) {
  return values.begin()[rng->Between(0, static_cast<std::int64_t>(values.size()) - 1)];
}

void ChooseLengths(Rng* rng, const LengthBounds& bounds, CallSpec* spec) {
  const std::int64_t batch = rng->Between(1, 4);
  spec->query_lengths.assign(static_cast<std::size_t>(batch), 1);
  spec->kv_lengths.assign(static_cast<std::size_t>(batch), 1);
  const bool equal_rows = rng->Chance(0.3);
  const bool equal_keys = rng->Chance(0.3);
  const std::int64_t most_rows = bounds.most_rows;
  for (std::size_t b = 0; b < spec->query_lengths.size(); ++b) {
    std::int64_t rows = rng->Between(1, most_rows);
    const bool may_be_empty = most_rows > 1 || (b > 0 && spec->layout.find('T') != std::string::npos);
    if (may_be_empty && bounds.empty && rng->Chance(0.08)) rows = 0;
    spec->query_lengths[b] = equal_rows && b > 0 ? spec->query_lengths[0] : rows;
    spec->kv_lengths[b] = equal_keys && b > 0 ? spec->kv_lengths[0] : RandomKeys(rng, bounds);
  }
  // The bound decides what kind of call this is, so some sequence reaches beyond one row.
  if (most_rows > 1) spec->query_lengths[0] = std::max<std::int64_t>(spec->query_lengths[0], 2);
  if (equal_rows) std::fill(spec->query_lengths.begin(), spec->query_lengths.end(), spec->query_lengths[0]);
  if (most_rows > 1 && rng->Chance(0.3)) spec->query_slack = rng->Between(1, 5);
  if (rng->Chance(0.4)) spec->kv_slack = rng->Between(1, 20);
}

void ChooseLengthForms(Rng* rng, CallSpec* spec) {
  const CallGeometry geometry(*spec);
  const auto form = [rng](const std::vector<std::int64_t>& lengths, bool absent_allowed) {
    if (absent_allowed && rng->Chance(0.5)) return LengthsForm::kAbsent;
    if (AllEqual(lengths) && rng->Chance(0.5)) return LengthsForm::kOne;
    return rng->Chance(0.3) ? LengthsForm::kExtra : LengthsForm::kEach;
  };
  const bool rows_whole = AllEqual(spec->query_lengths) && spec->query_slack == 0;
  const bool list = spec->storage == KvStorage::kList && spec->batch() > 1;
  const bool keys_whole = !spec->is_paged() && spec->kv_slack == 0 && (list || AllEqual(spec->kv_lengths));
  spec->query_form = form(spec->query_lengths, rows_whole || geometry.decode);
  spec->kv_form = form(spec->kv_lengths, keys_whole);
}

void ChooseViews(Rng* rng, CallSpec* spec) {
  static constexpr ViewForm kForms[] = {ViewForm::kGaps, ViewForm::kTransposed, ViewForm::kScattered};
  const auto choose = [rng] {
    return rng->Chance(0.75) ? ViewForm::kDense : kForms[rng->Between(0, 2)];
  };
  spec->query_view = choose();
  spec->out_view = choose();
  spec->kv_view = choose();
  if (spec->kv_dtype == DataType::kInt4 && !spec->quant.int4_in_int32 &&
      spec->kv_view == ViewForm::kScattered)
    spec->kv_view = ViewForm::kGaps;
  spec->mask.form = choose();
  spec->bias.form = rng->Chance(0.1) ? ViewForm::kBroadcast : choose();
  spec->paged.table_form = choose();
}

void ChooseFullMaskShape(Rng* rng, CallSpec* spec) {
  const CallGeometry geometry(*spec);
  MaskSpec& mask = spec->mask;
  constexpr DataType kTypes[] = {DataType::kBool, DataType::kInt8, DataType::kUint8};
  mask.given = true;
  mask.dtype = kTypes[rng->Between(0, 2)];
  mask.density = rng->Chance(0.15) ? static_cast<double>(rng->Between(0, 1)) : rng->Unit();
  const bool plain = spec->layout == "BSH" || spec->layout == "BSND" || spec->layout == "BNSD" ||
                     spec->layout == "BNSD_BSND";
  const bool flat = plain && spec->rope_dim == 0 && spec->head_dim == spec->value_dim;
  const bool one_row = geometry.query_axis == 1 && !geometry.packed;
  mask.rank = static_cast<int>(rng->Between(flat ? 2 : 3, 4));
  mask.batch_shared = mask.rank == 2 ? !one_row : rng->Chance(0.5);
  mask.row_slack = one_row ? 0 : rng->Between(0, 3);
  mask.column_slack = rng->Between(0, 9);
}

void ChooseBand(Rng* rng, CallSpec* spec) {
  MaskSpec& mask = spec->mask;
  const std::int64_t reach = 1 + *std::max_element(spec->kv_lengths.begin(), spec->kv_lengths.end());
  const auto token = [rng, reach] {
    if (rng->Chance(0.25)) return kUnlimited;
    return rng->Chance(0.15) ? rng->Between(-4, reach) : rng->Between(0, reach);
  };
  mask.pre_tokens = token();
  mask.next_tokens = token();
  if (-mask.next_tokens > mask.pre_tokens) mask.next_tokens = -mask.pre_tokens;
}

}  // namespace fia::testing
