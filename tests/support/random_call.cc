#include "support/random_call.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/call_geometry.h"

namespace fia::testing {
namespace {

constexpr std::array<const char*, 13> kLayouts = {
    "BSH",       "BSND",      "BNSD", "BNSD_BSND", "BSH_BNSD", "BSND_BNSD", "BSH_NBSD",
    "BSND_NBSD", "BNSD_NBSD", "TND",  "NTD",       "NTD_TND",  "TND_NTD"};

constexpr std::int64_t kMostPairs = 400'000;

// One call in the making: what has been chosen so far decides what may still be chosen.
class Generator {
 public:
  Generator(std::uint64_t seed, std::uint64_t index) : rng_(CallRng(seed, index)) {
    spec_.seed = rng_.Bits();
  }

  CallSpec Make() {
    spec_.check = rng_.Chance(0.35) ? Check::kStrict : Check::kRelaxed;
    ChooseLayout();
    ChooseTypes();
    ChooseSizes();
    ChooseDims();
    ChooseStorage();
    ChoosePrefixOrPadding();
    ChooseViews(&rng_, &spec_);
    ChooseBroadcast();
    ChooseLengthForms(&rng_, &spec_);
    ChooseMask();
    ChooseBias();
    spec_.sink = rng_.Chance(0.25) && SinkAllowed();
    ChooseNumbers();
    return spec_;
  }

 private:
  bool strict() const { return spec_.check == Check::kStrict; }
  bool packed() const { return spec_.layout.find('T') != std::string::npos; }
  bool one_row() const { return CallGeometry(spec_).query_axis == 1; }
  bool plain_layout() const {
    return spec_.layout == "BSH" || spec_.layout == "BSND" || spec_.layout == "BNSD" ||
           spec_.layout == "BNSD_BSND";
  }
  bool compressed_output() const {
    return spec_.layout == "TND_NTD" || spec_.layout.find("NBSD") != std::string::npos;
  }

  void ChooseLayout() { spec_.layout = kLayouts[static_cast<std::size_t>(rng_.Between(0, 12))]; }

  void ChooseTypes() {
    spec_.dtype = rng_.Chance(0.5) ? DataType::kFloat16 : DataType::kBfloat16;
    if (!strict() && rng_.Chance(0.3)) spec_.dtype = DataType::kFloat32;
    spec_.kv_dtype = spec_.out_dtype = spec_.dtype;
  }

  void ChooseSizes() {
    LengthBounds bounds;
    bounds.most_rows = Pick(&rng_, {1, 1, 4, 8, 24, 70});
    if (rng_.Chance(0.04)) bounds.most_rows = 280;
    ChooseLengths(&rng_, bounds, &spec_);
    spec_.num_kv_heads = Pick(&rng_, {1, 1, 2, 3});
    spec_.num_heads = spec_.num_kv_heads * Pick(&rng_, {1, 1, 2, 3, 5, 8, 16});
    if (rng_.Chance(0.03)) spec_.num_heads = spec_.num_kv_heads * 24;
    spec_.spell_kv_heads = spec_.num_heads != spec_.num_kv_heads || rng_.Chance(0.5);
  }

  void ChooseDims() {
    const bool needs_rope = strict() && compressed_output();
    const double rope_share = strict() && !one_row() ? 0.2 : 0.12;
    if (needs_rope || rng_.Chance(rope_share)) {
      ChooseRope(needs_rope);
    } else if (strict()) {
      ChooseStrictDims();
    } else {
      spec_.head_dim = rng_.Chance(0.5) ? Pick(&rng_, {16, 32, 64, 128}) : rng_.Between(1, 100);
      if (rng_.Chance(0.05)) spec_.head_dim = Pick(&rng_, {192, 256, 512});
      spec_.value_dim = rng_.Chance(0.75) ? spec_.head_dim : rng_.Between(1, 140);
    }
    if (spec_.head_dim == 512) ShrinkKeys(140);  // long rows are dear for the reference
    while (Pairs() > kMostPairs)
      ShrinkKeys(*std::max_element(spec_.kv_lengths.begin(), spec_.kv_lengths.end()) / 2);
  }

  void ShrinkKeys(std::int64_t most) {
    for (std::int64_t& keys : spec_.kv_lengths) keys = std::min(keys, most);
  }

  // Scores of the call.
  std::int64_t Pairs() const {
    std::int64_t pairs = 0;
    for (std::size_t b = 0; b < spec_.kv_lengths.size(); ++b)
      pairs += spec_.query_lengths[b] * spec_.kv_lengths[b] * spec_.num_heads;
    return pairs;
  }

  void ChooseRope(bool compressed) {
    spec_.rope_dim = 64;
    const bool narrow_output = spec_.layout == "BSH_BNSD" || spec_.layout == "BSND_BNSD";
    if (compressed || rng_.Chance(0.4)) {
      if (strict() && narrow_output) {
        spec_.head_dim = spec_.value_dim = 128;
        return;
      }
      spec_.head_dim = spec_.value_dim = 512;
      spec_.num_heads = std::min<std::int64_t>(spec_.num_heads / spec_.num_kv_heads, 16);
      spec_.num_kv_heads = 1;
      spec_.spell_kv_heads = true;
      spec_.value_is_key = rng_.Chance(0.6);
      return;
    }
    spec_.head_dim = spec_.value_dim = 128;
    if (strict()) return;
    spec_.head_dim = rng_.Between(1, 140);
    spec_.value_dim = rng_.Chance(0.5) ? spec_.head_dim : rng_.Between(1, 140);
  }

  void ChooseStrictDims() {
    const bool narrow_output = spec_.layout == "BSH_BNSD" || spec_.layout == "BSND_BNSD";
    if (rng_.Chance(0.12)) {
      spec_.head_dim = 192;
      spec_.value_dim = 128;
      return;
    }
    spec_.head_dim = Pick(&rng_, {64, 128});
    if (!packed() && !narrow_output && rng_.Chance(0.5))
      spec_.head_dim = one_row() ? rng_.Between(1, 160) : 16 * rng_.Between(1, 16);
    if (spec_.layout == "TND" && rng_.Chance(0.3)) {
      spec_.head_dim = rng_.Between(1, 256);
      spec_.inner_precise = 0;
      any_precision_ = false;
    }
    spec_.value_dim = spec_.head_dim;
  }

  void ChooseStorage() {
    const double draw = rng_.Unit();
    if (draw < 0.35) {
      ChoosePaged();
    } else if (draw < 0.5 && plain_layout() && spec_.rope_dim == 0 && spec_.batch() > 1) {
      spec_.storage = KvStorage::kList;
      spec_.kv_slack = std::max<std::int64_t>(spec_.kv_slack, 1);  // a list's members are not empty
      if (*std::min_element(spec_.kv_lengths.begin(), spec_.kv_lengths.end()) > 0 && rng_.Chance(0.5))
        spec_.kv_slack = 0;
    }
  }

  void ChoosePaged() {
    constexpr KvStorage kForms[] = {KvStorage::kPagedBnBsH, KvStorage::kPagedBnNBsD, KvStorage::kPagedNz};
    const KvStorage form = kForms[rng_.Between(0, 2)];
    const std::int64_t chunk = spec_.dtype == DataType::kFloat32 ? 8 : 16;
    const bool chunked = spec_.head_dim % chunk == 0 && spec_.value_dim % chunk == 0;
    spec_.storage = form == KvStorage::kPagedNz && !chunked ? KvStorage::kPagedBnNBsD : form;
    std::int64_t size = rng_.Chance(0.2) ? 1 : rng_.Between(1, 150);
    if (strict() || rng_.Chance(0.4)) size = Pick(&rng_, {16, 32, 48, 128, 256});
    const bool odd_dim = !packed() && spec_.rope_dim == 0 && spec_.head_dim != 64 && spec_.head_dim != 128;
    if (strict() && odd_dim && !one_row()) size = Pick(&rng_, {128, 256});
    spec_.paged.block_size = size;
    spec_.paged.table_slack = rng_.Between(0, 3);
    spec_.paged.extra_blocks = rng_.Between(0, 3);
    spec_.kv_slack = 0;
    if (!rng_.Chance(0.25)) return;
    spec_.paged.shared_tokens = spec_.common_tokens = size * rng_.Between(1, 4);
    if (strict()) spec_.paged.extra_blocks += 4 * spec_.batch();
  }

  void ChoosePrefixOrPadding() {
    const bool padded_tensor = !packed() && spec_.storage == KvStorage::kTensor && spec_.rope_dim == 0 &&
                               spec_.head_dim == spec_.value_dim;
    if (!padded_tensor || (strict() && !plain_layout())) return;
    const double draw = rng_.Unit();
    if (draw < 0.3) {
      spec_.prefix.length = rng_.Chance(0.1) ? 0 : rng_.Between(1, rng_.Chance(0.1) ? 270 : 40);
      spec_.prefix.give_length = spec_.prefix.length == 0 || rng_.Chance(0.6);
      if (spec_.prefix.give_length) spec_.prefix.axis_slack = rng_.Between(1, 6);
    } else if (draw < 0.7) {
      spec_.padding.query = rng_.Chance(0.7);
      spec_.padding.kv = !spec_.padding.query || rng_.Chance(0.7);
      spec_.padding.query_size = rng_.Between(-1, 5);
      spec_.padding.kv_size = rng_.Between(-1, rng_.Chance(0.2) ? 30 : 8);
      if (!one_row()) spec_.query_slack = rng_.Between(0, 8);
      spec_.kv_slack = rng_.Between(0, 20);
    }
  }

  void ChooseBroadcast() {
    const bool possible = !packed() && spec_.storage == KvStorage::kTensor && !spec_.padding.kv;
    if (possible && rng_.Chance(0.06)) spec_.kv_view = ViewForm::kBroadcast;
  }

  void ChooseMask() {
    const CallGeometry geometry(spec_);
    MaskSpec& mask = spec_.mask;
    constexpr DataType kTypes[] = {DataType::kBool, DataType::kInt8, DataType::kUint8};
    mask.dtype = kTypes[rng_.Between(0, 2)];
    mask.rank = static_cast<int>(rng_.Between(2, 4));
    if (geometry.decode) {
      if (rng_.Chance(0.4)) ChooseFullMaskShape(&rng_, &spec_);
      if (rng_.Chance(0.2)) mask.mode = rng_.Between(-3, 9);  // not looked at
      return;
    }
    const bool few_modes = strict() && (packed() || spec_.head_dim == 512);
    mask.mode = few_modes ? Pick(&rng_, {0, 3, 4}) : Pick(&rng_, {0, 0, 1, 2, 3, 3, 4});
    if (mask.mode == 1 || (mask.mode == 0 && !(strict() && packed()) && rng_.Chance(0.5)))
      ChooseFullMaskShape(&rng_, &spec_);
    if (mask.mode == 4 || (mask.mode == 0 && rng_.Chance(0.5))) ChooseBand(&rng_, &spec_);
  }

  void ChooseBias() {
    BiasSpec& bias = spec_.bias;
    const bool alibi = packed();
    bool allowed = spec_.rope_dim == 0 && (!alibi || spec_.layout == "TND");
    if (alibi && strict()) allowed = allowed && spec_.mask.mode == 0 && !spec_.mask.given;
    if (!allowed || !rng_.Chance(0.3)) return;
    if (alibi && strict()) any_precision_ = false;
    bias.given = true;
    bias.batch_shared = rng_.Chance(0.5);
    bias.row_slack = rng_.Between(0, 3);
    bias.column_slack = rng_.Between(0, 9);
    bias.magnitude = static_cast<double>(Pick(&rng_, {1, 3, 50}));
    bias.infinite_share = rng_.Chance(0.3) ? rng_.Unit() : 0;
  }

  bool SinkAllowed() const {
    if (!strict()) return true;
    const bool other = spec_.bias.given || spec_.prefix.length + spec_.prefix.axis_slack > 0 ||
                       spec_.padding.query || spec_.padding.kv;
    return !other && spec_.head_dim != 512 && (spec_.value_dim == 64 || spec_.value_dim == 128);
  }

  void ChooseNumbers() {
    spec_.lse = rng_.Chance(0.7);
    if (any_precision_) spec_.inner_precise = rng_.Between(0, 3);
    spec_.scale = 1 / std::sqrt(static_cast<double>(spec_.head_dim));
    if (rng_.Chance(0.2)) spec_.scale = rng_.Uniform(-0.5, 1.5);
    spec_.query_magnitude = rng_.Uniform(0.2, 4);
    spec_.key_magnitude = rng_.Uniform(0.2, 4);
    spec_.value_magnitude = rng_.Chance(0.1) ? 300 : rng_.Uniform(0.1, 2);
    if (rng_.Chance(0.05)) spec_.query_magnitude = 40;
    if (rng_.Chance(0.03)) spec_.scale = 0;
    spec_.threads = static_cast<int>(rng_.Between(1, 3));
  }

  Rng rng_;
  CallSpec spec_;
  bool any_precision_ = true;  // false: innerPrecise has to stay 0
};

}  // namespace

CallSpec RandomCall(std::uint64_t seed, std::uint64_t index) { return Generator(seed, index).Make(); }

}  // namespace fia::testing
