// Random quantised calls: each kind of quantisation within the rules that are its own.
#include <algorithm>
#include <cmath>

#include "support/call_geometry.h"
#include "support/random_call.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kMostPairs = 200'000;

class QuantGenerator {
 public:
  QuantGenerator(std::uint64_t seed, std::uint64_t index) : rng_(CallRng(seed, index)) {
    spec_.seed = rng_.Bits();
  }

  CallSpec Make() {
    spec_.check = rng_.Chance(0.3) ? Check::kStrict : Check::kRelaxed;
    spec_.dtype = rng_.Chance(0.5) ? DataType::kFloat16 : DataType::kBfloat16;
    const double kind = rng_.Unit();
    if (kind < 0.4) {
      MakeAntiquant();
    } else if (kind < 0.55) {
      MakeAntiquantBlocks();
    } else if (kind < 0.75) {
      MakeInt8();
    } else if (kind < 0.9) {
      MakeInt8Output();
    } else {
      MakeInt8Mla();
    }
    ChooseNumbers();
    return spec_;
  }

 private:
  bool strict() const { return spec_.check == Check::kStrict; }
  bool packed() const { return spec_.layout.find('T') != std::string::npos; }
  bool several() const { return CallGeometry(spec_).query_axis > 1; }
  bool padded_left() const { return spec_.padding.query || spec_.padding.kv; }
  bool listable_layout() const {
    return spec_.layout == "BSH" || spec_.layout == "BSND" || spec_.layout == "BNSD" ||
           spec_.layout == "BNSD_BSND";
  }

  void ChooseLayoutOf(std::initializer_list<const char*> strict_layouts,
                      std::initializer_list<const char*> more) {
    const std::int64_t first = static_cast<std::int64_t>(strict_layouts.size());
    const std::int64_t count = first + (strict() ? 0 : static_cast<std::int64_t>(more.size()));
    const std::int64_t choice = rng_.Between(0, count - 1);
    spec_.layout = choice < first ? strict_layouts.begin()[choice] : more.begin()[choice - first];
  }

  void ChooseSizes(std::int64_t most_rows) {
    LengthBounds bounds;
    bounds.most_rows = most_rows;
    ChooseLengths(&rng_, bounds, &spec_);
    spec_.num_kv_heads = Pick(&rng_, {1, 1, 2, 3});
    spec_.num_heads = spec_.num_kv_heads * Pick(&rng_, {1, 2, 3, 8});
    std::int64_t longest = 1100;
    while (Pairs() > kMostPairs) {
      longest /= 2;
      for (std::int64_t& keys : spec_.kv_lengths) keys = std::min(keys, longest);
    }
  }

  std::int64_t Pairs() const {
    std::int64_t pairs = 0;
    for (std::size_t b = 0; b < spec_.kv_lengths.size(); ++b)
      pairs += spec_.query_lengths[b] * spec_.kv_lengths[b] * spec_.num_heads;
    return pairs;
  }

  void ChooseDims(std::int64_t strict_step, std::int64_t relaxed_step) {
    const bool narrow = spec_.layout == "BSH_BNSD" || spec_.layout == "BSND_BNSD";
    const std::int64_t step = strict() ? strict_step : relaxed_step;
    spec_.head_dim = rng_.Chance(0.5) || (strict() && narrow) ? Pick(&rng_, {64, 128})
                                                              : step * rng_.Between(1, 160 / step);
    spec_.value_dim = spec_.head_dim;
  }

  void ChooseList() {
    if (!listable_layout() || spec_.batch() < 2) return;
    spec_.storage = KvStorage::kList;
    spec_.kv_slack = std::max<std::int64_t>(spec_.kv_slack, 1);
  }

  void ChoosePrefix() {
    spec_.prefix.length = rng_.Between(1, 30);
    spec_.prefix.give_length = rng_.Chance(0.5);
    if (spec_.prefix.give_length) spec_.prefix.axis_slack = rng_.Between(1, 6);
  }

  void ChoosePadding() {
    spec_.padding.query = rng_.Chance(0.6);
    spec_.padding.kv = !spec_.padding.query || rng_.Chance(0.6);
    spec_.padding.query_size = rng_.Between(0, 4);
    spec_.padding.kv_size = rng_.Between(0, 8);
    if (several()) spec_.query_slack = rng_.Between(0, 6);
    spec_.kv_slack = rng_.Between(0, 12);
  }

  void ChoosePages(KvStorage form, std::initializer_list<std::int64_t> strict_sizes) {
    spec_.storage = form;
    spec_.kv_slack = 0;
    spec_.paged.block_size = strict() ? Pick(&rng_, strict_sizes) : rng_.Between(1, 70);
    spec_.paged.table_slack = rng_.Between(0, 2);
    spec_.paged.extra_blocks = rng_.Between(0, 2);
  }

  // An int8 or int4 cache outside NZ: padded layouts, one query position or several.
  void MakeAntiquant() {
    spec_.quant.flow = QuantFlow::kAntiquant;
    ChooseLayoutOf({"BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_BNSD", "BSND_BNSD"},
                   {"BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"});
    spec_.quant.combined = rng_.Chance(0.3);
    ChooseSizes(Pick(&rng_, {1, 1, 5, 16, 40}));
    if (strict() && several() && !spec_.quant.combined) ShortenRows(16);
    const bool int4 = !several() && rng_.Chance(0.35);
    spec_.kv_dtype = int4 ? DataType::kInt4 : DataType::kInt8;
    spec_.quant.int4_in_int32 = int4 && rng_.Chance(0.5);
    ChooseDims(int4 ? 64 : several() ? 32 : 1, int4 ? 8 : 1);
    if (!strict() && !spec_.quant.combined && !int4 && rng_.Chance(0.2))
      spec_.value_dim = rng_.Between(1, 90);
    if (strict() && several()) spec_.dtype = spec_.quant.combined ? DataType::kFloat16 : DataType::kBfloat16;
    ChooseAntiquantStorage(int4);
    ChooseAntiquantModes(int4);
    ChooseOutput(!int4 && !(strict() && several() && !spec_.quant.combined));
    FinishMasks();
  }

  void ShortenRows(std::int64_t most) {
    for (std::int64_t& rows : spec_.query_lengths) rows = std::min(rows, most);
    spec_.query_slack = 0;
  }

  void ChooseAntiquantStorage(bool int4) {
    const double draw = rng_.Unit();
    const bool separate_rows = strict() && several() && !spec_.quant.combined;
    const bool prefix_layout = !strict() || listable_layout();
    const bool one_dim = spec_.head_dim == spec_.value_dim;
    if (draw < 0.3 && !int4 && !separate_rows) {
      const bool odd_dim = spec_.head_dim != 64 && spec_.head_dim != 128;
      const KvStorage form = rng_.Chance(0.5) ? KvStorage::kPagedBnBsH : KvStorage::kPagedBnNBsD;
      ChoosePages(form, {32, 64, 128});
      if (strict() && odd_dim && several()) spec_.paged.block_size = 128;
    } else if (draw < 0.45 && !separate_rows) {
      ChooseList();
    } else if (draw < 0.6 && prefix_layout && one_dim) {
      ChoosePrefix();
    } else if (draw < 0.75 && prefix_layout && one_dim && !int4 && !separate_rows) {
      ChoosePadding();
    }
  }

  // A scale has at least one position, even if no sequence has a key.
  void ChooseScaleSlack() {
    const std::int64_t least = CallGeometry(spec_).mask_columns == 0 ? 1 : 0;
    spec_.quant.scale_slack = rng_.Between(least, 5);
  }

  void ChooseAntiquantModes(bool int4) {
    QuantSpec& quant = spec_.quant;
    quant.offsets = rng_.Chance(0.5);
    quant.shape_form = static_cast<int>(rng_.Between(0, 6));
    ChooseScaleSlack();
    quant.per_channel = rng_.Chance(0.6);
    if (quant.combined) {
      quant.key_mode = quant.value_mode = several() ? 0 : rng_.Between(0, 1);
      return;
    }
    std::int64_t mode = int4 ? Pick(&rng_, {0, 1, 3}) : rng_.Between(0, spec_.is_paged() ? 5 : 3);
    if (strict() && several()) mode = rng_.Between(0, 1);
    quant.key_mode = quant.value_mode = mode;
    const bool mixable = !strict() || (!several() && spec_.dtype == DataType::kFloat16);
    if (mode == 0 && mixable && rng_.Chance(0.3)) quant.value_mode = 1;
  }

  // An int8 cache in NZ blocks.
  void MakeAntiquantBlocks() {
    spec_.quant.flow = QuantFlow::kAntiquant;
    ChooseLayoutOf({"BSH", "BSND", "BNSD", "TND"}, {});
    ChooseSizes(Pick(&rng_, {1, 4, 16}));
    spec_.kv_dtype = DataType::kInt8;
    spec_.head_dim = spec_.value_dim = strict() ? 128 : 32 * rng_.Between(1, 5);
    if (strict()) spec_.dtype = DataType::kBfloat16;
    ChoosePages(KvStorage::kPagedNz, {128, 512});
    if (strict()) ShortenRows(16);
    ChooseScaleSlack();
    QuantSpec& quant = spec_.quant;
    quant.shape_form = static_cast<int>(rng_.Between(0, 6));
    quant.key_mode = quant.value_mode = strict() ? rng_.Between(0, packed() ? 0 : 1) : rng_.Between(0, 5);
    quant.per_channel = (strict() && packed()) || rng_.Chance(0.6);
    quant.offsets = !strict() && rng_.Chance(0.5);
    spec_.out_dtype = spec_.dtype;
    fixed_precision_ = strict();
    ChooseViews(&rng_, &spec_);
    ChooseLengthForms(&rng_, &spec_);
    spec_.mask.rank = static_cast<int>(rng_.Between(2, 4));
    if (several()) {
      spec_.mask.mode = Pick(&rng_, {0, 3});
    } else if (!packed() && rng_.Chance(0.5)) {
      ChooseFullMaskShape(&rng_, &spec_);
    }
  }

  // int8 query, key and value.
  void MakeInt8() {
    spec_.quant.flow = QuantFlow::kInt8;
    spec_.dtype = spec_.kv_dtype = DataType::kInt8;
    ChooseLayoutOf({"BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_BNSD", "BSND_BNSD"},
                   {"BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"});
    ChooseSizes(Pick(&rng_, {3, 16, 40}));
    ChooseDims(32, 1);
    spec_.quant.uint64_deq1 = rng_.Chance(0.5);
    spec_.quant.uint64_deq2 = rng_.Chance(0.5);
    const double draw = rng_.Unit();
    if (draw < 0.2) {
      ChooseList();
    } else if (draw < 0.4 && (!strict() || listable_layout())) {
      ChoosePadding();
    }
    ChooseOutput(true);
    if (spec_.quant.output == OutputQuant::kNone) spec_.out_dtype = DataType::kFloat16;
    FinishMasks();
  }

  // Floating-point inputs, int8 output.
  void MakeInt8Output() {
    ChooseLayoutOf({"BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_BNSD", "BSND_BNSD"},
                   {"BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"});
    ChooseSizes(Pick(&rng_, {1, 5, 40}));
    spec_.kv_dtype = spec_.dtype;
    ChooseDims(several() ? 32 : 1, 1);
    const double draw = rng_.Unit();
    if (draw < 0.3) {
      ChoosePages(rng_.Chance(0.5) ? KvStorage::kPagedBnBsH : KvStorage::kPagedBnNBsD, {128});
    } else if (draw < 0.5) {
      ChooseList();
    } else if (draw < 0.65 && (!strict() || listable_layout())) {
      ChoosePrefix();
    } else if (draw < 0.8 && (!strict() || listable_layout())) {
      ChoosePadding();
    }
    ChooseOutput(true);
    while (spec_.out_dtype != DataType::kInt8) ChooseOutput(true);
    FinishMasks();
  }

  void ChooseOutput(bool int8_allowed) {
    QuantSpec& quant = spec_.quant;
    spec_.out_dtype = spec_.dtype;
    quant.output = OutputQuant::kNone;
    if (!int8_allowed || spec_.head_dim != spec_.value_dim || !rng_.Chance(0.5)) return;
    spec_.out_dtype = DataType::kInt8;
    const bool channel = !padded_left() && (!strict() || spec_.value_dim % 32 == 0) && rng_.Chance(0.5);
    quant.output = channel ? OutputQuant::kChannel : OutputQuant::kTensor;
    if (channel) spec_.lse = false;
    quant.output_offset = rng_.Chance(0.5);
    quant.output_shape_form = listable_layout() || !channel ? static_cast<int>(rng_.Between(0, 3)) : 0;
    if (spec_.dtype != DataType::kFloat16 && rng_.Chance(0.4)) quant.output_scale_dtype = DataType::kBfloat16;
  }

  // Views, forms of lengths, masks and bias of padded calls.
  void FinishMasks() {
    ChooseViews(&rng_, &spec_);
    ChooseLengthForms(&rng_, &spec_);
    spec_.mask.rank = static_cast<int>(rng_.Between(2, 4));
    const bool decode = CallGeometry(spec_).decode;
    if (!decode) spec_.mask.mode = Pick(&rng_, {0, 0, 1, 2, 3, 4});
    if (spec_.mask.mode == 1 || (spec_.mask.mode == 0 && rng_.Chance(0.5)))
      ChooseFullMaskShape(&rng_, &spec_);
    if (!decode && (spec_.mask.mode == 4 || rng_.Chance(0.3))) ChooseBand(&rng_, &spec_);
    if (!decode && spec_.out_dtype == DataType::kInt8) RestrictBand();
    if (rng_.Chance(0.2)) {
      spec_.bias.given = true;
      spec_.bias.batch_shared = rng_.Chance(0.5);
      spec_.bias.column_slack = rng_.Between(0, 5);
    }
  }

  // int8 output takes no negative tokens in mode 4, and with an offset no rows that a band leaves empty.
  void RestrictBand() {
    MaskSpec& mask = spec_.mask;
    if (mask.mode == 4) {
      mask.pre_tokens = std::max<std::int64_t>(mask.pre_tokens, 0);
      mask.next_tokens = std::max<std::int64_t>(mask.next_tokens, 0);
    }
    if (!spec_.quant.output_offset) return;
    const CallGeometry geometry(spec_);
    for (const SequenceGeometry& sequence : geometry.sequences) {
      const std::int64_t lacking = sequence.rows - sequence.keys;
      if (mask.mode == 0) {
        mask.pre_tokens = std::max(mask.pre_tokens, lacking);
        mask.next_tokens = std::max<std::int64_t>(mask.next_tokens, 0);
      }
      if (mask.mode == 3 && lacking > 0) mask.mode = 2;
      if (mask.mode == 4) mask.next_tokens = std::max(mask.next_tokens, lacking);
    }
  }

  // int8 query with one scale for each row, compressed int8 cache.
  void MakeInt8Mla() {
    spec_.quant.flow = QuantFlow::kInt8Mla;
    spec_.dtype = spec_.kv_dtype = DataType::kInt8;
    spec_.out_dtype = DataType::kBfloat16;
    spec_.layout = Pick(&rng_, {0, 1}) == 0 ? "TND" : "BSND";
    if (rng_.Chance(0.5)) spec_.layout = Pick(&rng_, {0, 1}) == 0 ? "TND_NTD" : "BSH";
    if (rng_.Chance(0.3)) spec_.layout = Pick(&rng_, {0, 1}) == 0 ? "BSH_NBSD" : "BSND_NBSD";
    ChooseSizes(Pick(&rng_, {1, 1, 2, 5}));
    spec_.num_kv_heads = 1;
    spec_.num_heads = Pick(&rng_, {1, 2, 4, 8, 16});
    spec_.head_dim = spec_.value_dim = 512;
    spec_.rope_dim = 64;
    ChoosePages(KvStorage::kPagedNz, {128});
    if (rng_.Chance(0.15)) spec_.kv_lengths[0] = Pick(&rng_, {511, 512, 513, 700, 1030});
    spec_.value_is_key = rng_.Chance(0.5);
    ChooseViews(&rng_, &spec_);
    ChooseLengthForms(&rng_, &spec_);
    spec_.mask.rank = static_cast<int>(rng_.Between(2, 4));
    if (packed() ? rng_.Chance(0.5) : several()) spec_.mask.mode = 3;
  }

  void ChooseNumbers() {
    spec_.spell_kv_heads = spec_.num_heads != spec_.num_kv_heads || rng_.Chance(0.5);
    if (spec_.quant.output != OutputQuant::kChannel) spec_.lse = rng_.Chance(0.6);
    spec_.inner_precise = fixed_precision_ ? 1 : rng_.Between(0, 3);
    spec_.scale = 1 / std::sqrt(static_cast<double>(spec_.head_dim));
    spec_.query_magnitude = rng_.Uniform(0.2, 3);
    spec_.key_magnitude = rng_.Uniform(0.2, 3);
    spec_.value_magnitude = rng_.Uniform(0.1, 2);
    spec_.threads = static_cast<int>(rng_.Between(1, 3));
  }

  Rng rng_;
  CallSpec spec_;
  bool fixed_precision_ = false;  // innerPrecise has to be 1
};

}  // namespace

CallSpec RandomQuantisedCall(std::uint64_t seed, std::uint64_t index) {
  return QuantGenerator(seed, index).Make();
}

}  // namespace fia::testing
