#include "kernels/softmax.h"

#include <limits>

#include "kernels/convert.h"
#include "kernels/element.h"
#include "kernels/exp.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Keys whose p are summed in float32; the sums are joined in double. 64 terms a lane with the narrowest
// packets.
constexpr std::int64_t kSumKeys = 256;

// Nearest integer, ties to even, saturated to int8.
FIA_INLINE Packet RoundToInt8(Packet value) {
  const Packet magic = Broadcast(12582912.0f);
  const Packet clamped = packets::pmin(packets::pmax(value, Broadcast(-128.0f)), Broadcast(127.0f));
  return packets::psub(packets::padd(clamped, magic), magic);
}

// An array of one float a key, read without going past its end.
FIA_INLINE Packet LoadKeys(const float* values, std::int64_t key, std::int64_t keys) {
  return LoadElementsWithin<Float32Element>(values, key, keys);
}

// What the scores of one row are made with.
struct RowTerms {
  float factor;             // scale * row_scale
  float row_offset;         // 0 without
  const float* key_offset;  // [keys] or null
  const float* key_scale;   // [keys] or null
  const float* bias;        // converted, [range] or null
  const float* masked;      // converted, [range], non-zero masks, or null
  bool plain;               // only the factor
};

RowTerms TermsOf(const TileArgs& args, std::int64_t row, KeyRange range, float* extra) {
  RowTerms terms = {};
  // Where the factor overflows the dots are 0, or the scores themselves are out of range: 0 must stay 0.
  constexpr double kLargest = std::numeric_limits<float>::max();
  const double factor = args.row_scale != nullptr ? args.scale * args.row_scale[row] : args.scale;
  terms.factor = static_cast<float>(factor > kLargest ? kLargest : factor < -kLargest ? -kLargest : factor);
  terms.row_offset = args.row_offset != nullptr ? args.row_offset[row] : 0.0f;
  terms.key_offset = args.row_offset != nullptr ? args.key_offset : nullptr;
  terms.key_scale = args.key_scale;
  const std::int64_t count = Smaller(range.end, args.keys) - range.begin;
  if (args.bias_rows != nullptr) {
    const auto* first = static_cast<const unsigned char*>(args.bias_rows[row]);
    ConvertRow(args.bias_type, first + range.begin * args.bias_key_stride, args.bias_key_stride, count,
               extra + range.begin);
    terms.bias = extra;
  }
  if (args.mask_rows != nullptr) {
    float* masked = extra + Padded(args.shape.keys);
    ConvertRow(DataType::kInt8, args.mask_rows[row] + range.begin * args.mask_key_stride,
               args.mask_key_stride, count, masked + range.begin);
    terms.masked = masked;
  }
  terms.plain = terms.bias == nullptr && terms.masked == nullptr && terms.key_scale == nullptr &&
                args.row_offset == nullptr;
  return terms;
}

FIA_INLINE Packet ScoreOf(Packet dot, const RowTerms& terms, std::int64_t key, std::int64_t keys) {
  const Packet row_offset = Broadcast(terms.row_offset);
  if (terms.key_offset != nullptr) {
    dot = MultiplyAdd(LoadKeys(terms.key_offset, key, keys), row_offset, dot);
  } else {
    dot = packets::padd(dot, row_offset);
  }
  if (terms.key_scale != nullptr) dot = packets::pmul(dot, LoadKeys(terms.key_scale, key, keys));
  Packet score = packets::pmul(dot, Broadcast(terms.factor));
  const Packet minus_infinity = Broadcast(-kInfinity);
  if (terms.bias != nullptr) {
    // Only a bias of -inf masks: a sum that overflows stays finite.
    const Packet bias = Load(terms.bias + key);
    const Packet sum =
        packets::pmax(packets::padd(score, bias), Broadcast(std::numeric_limits<float>::lowest()));
    score = Select(packets::pcmp_eq(bias, minus_infinity), minus_infinity, sum);
  }
  if (terms.masked != nullptr) {
    score = Select(packets::pcmp_eq(Load(terms.masked + key), Zero()), score, minus_infinity);
  }
  return score;
}

// Dots to scores; -inf where the row does not attend. Returns the largest.
float ScoreRow(const RowTerms& terms, KeyRange own, KeyRange range, std::int64_t keys, float* scores) {
  const Packet minus_infinity = Broadcast(-kInfinity);
  Packet largest = minus_infinity;
  for (std::int64_t key = range.begin; key < range.end; key += kWidth) {
    Packet score = Load(scores + key);
    score = terms.plain ? packets::pmul(score, Broadcast(terms.factor)) : ScoreOf(score, terms, key, keys);
    if (key < own.begin || key + kWidth > own.end) {
      const Packet lane = packets::plset<Packet>(static_cast<float>(key));
      const Packet from_begin = packets::pcmp_le(Broadcast(static_cast<float>(own.begin)), lane);
      const Packet to_end = packets::pcmp_lt(lane, Broadcast(static_cast<float>(own.end)));
      score = Select(packets::pand(from_begin, to_end), score, minus_infinity);
    }
    Store(scores + key, score);
    largest = packets::pmax(largest, score);
  }
  return packets::predux_max(largest);
}

// Dots to their maximum, for a row that attends all of `range` and whose factor is not negative: rounding is
// monotonic, so the largest dot gives the largest score.
float LargestDot(KeyRange range, const float* scores) {
  Packet largest[4];
  for (Packet& packet : largest) packet = Broadcast(-kInfinity);
  std::int64_t key = range.begin;
  for (; key + 4 * kWidth <= range.end; key += 4 * kWidth) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) largest[i] = packets::pmax(largest[i], Load(scores + key + i * kWidth));
  }
  for (; key < range.end; key += kWidth) largest[0] = packets::pmax(largest[0], Load(scores + key));
  return packets::predux_max(
      packets::pmax(packets::pmax(largest[0], largest[1]), packets::pmax(largest[2], largest[3])));
}

// kCount packets of scores * factor to p = exp(s - base), added to the sum in order.
template <int kCount>
FIA_INLINE void ExpKeys(float factor, float base, float* scores, Packet* sum) {
  Packet p[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    p[i] = packets::psub(packets::pmul(Load(scores + i * kWidth), Broadcast(factor)), Broadcast(base));
  }
  Exp(p);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    Store(scores + i * kWidth, p[i]);
    *sum = packets::padd(*sum, p[i]);
  }
}

// Scores, still to be multiplied by `factor`, to p = exp(s - base); returns their sum.
double ExpRow(KeyRange range, float factor, float base, float* scores) {
  double total = 0;
  for (std::int64_t key = range.begin; key < range.end;) {
    const std::int64_t end = Smaller(range.end, (key / kSumKeys + 1) * kSumKeys);
    Packet sum = Zero();
    for (; key + 4 * kWidth <= end; key += 4 * kWidth) ExpKeys<4>(factor, base, scores + key, &sum);
    for (; key < end; key += kWidth) ExpKeys<1>(factor, base, scores + key, &sum);
    total += static_cast<double>(packets::predux(sum));
  }
  return total;
}

// p to p * value_scale; returns the sum of p * value_scale * value_offset.
float ScaleWeights(const TileArgs& args, KeyRange range, float* weights) {
  Packet offsets = Zero();
  for (std::int64_t key = range.begin; key < range.end; key += kWidth) {
    const Packet p = Load(weights + key);
    // A key without weight may have any scale and offset, NaN included.
    const Packet nothing = packets::pcmp_eq(p, Zero());
    Packet weight = p;
    if (args.value_scale != nullptr) {
      weight = Select(nothing, p, packets::pmul(p, LoadKeys(args.value_scale, key, args.keys)));
    }
    if (args.value_offset != nullptr) {
      const Packet offset = Select(nothing, Zero(), LoadKeys(args.value_offset, key, args.keys));
      offsets = MultiplyAdd(weight, offset, offsets);
    }
    Store(weights + key, weight);
  }
  return packets::predux(offsets);
}

void RoundWeights(KeyRange range, float scale, float* weights) {
  for (std::int64_t key = range.begin; key < range.end; key += kWidth) {
    Store(weights + key, RoundToInt8(packets::pmul(Load(weights + key), Broadcast(scale))));
  }
}

}  // namespace

RowStep SoftmaxRow(const TileArgs& args, std::int64_t row, KeyRange range, float* scores, float* extra) {
  const KeyRange padded = {range.begin, Padded(range.end, kWidth)};
  const RowTerms terms = TermsOf(args, row, padded, extra);
  const KeyRange own = RowRange(args, row);
  const bool whole = own.begin <= padded.begin && own.end >= padded.end;
  float factor = 1.0f;  // by which the scores are still to be multiplied
  float tile_max;
  if (terms.plain && whole && terms.factor >= 0.0f) {
    factor = terms.factor;
    tile_max = LargestDot(padded, scores) * factor;
  } else {
    tile_max = ScoreRow(terms, own, padded, args.keys, scores);
  }
  const float old_max = args.state.row_max[row];
  const float new_max = tile_max > old_max ? tile_max : old_max;
  if (args.weights == Weights::kMaxOnly) {
    args.state.row_max[row] = new_max;
    return {1.0f, 1.0f};
  }
  if (tile_max == -kInfinity) {  // attends nothing here
    for (std::int64_t key = padded.begin; key < padded.end; key += kWidth) Store(scores + key, Zero());
    return {1.0f, 1.0f};
  }
  // Blocks of int8 weights have the tile's maximum as their base, the others the running one.
  const bool own_base = args.weights == Weights::kBlockInt8;
  const float shrink = own_base && tile_max != new_max ? Exp(tile_max - new_max) : 1.0f;
  RowStep step = {old_max == new_max ? 1.0f : Exp(old_max - new_max), shrink};
  const double sum = ExpRow(padded, factor, own_base ? tile_max : new_max, scores);
  args.state.row_max[row] = new_max;
  args.state.row_sum[row] = args.state.row_sum[row] * step.correction + sum * shrink;
  if (own_base) {
    RoundWeights(padded, 127.0f, scores);
    step.factor = shrink / 127.0f;
  } else if (args.weights == Weights::kFixedMaxInt8) {
    RoundWeights(padded, args.weight_scale, scores);
  } else if (args.value_scale != nullptr || args.value_offset != nullptr) {
    const float offsets = ScaleWeights(args, padded, scores);
    if (args.state.offset_sum != nullptr) {
      args.state.offset_sum[row] = args.state.offset_sum[row] * step.correction + offsets;
    }
  }
  return step;
}

#if defined(FIA_BFLOAT16_DOT)
void NarrowWeights(KeyRange range, const float* weights, float* pairs) {
  for (std::int64_t key = range.begin; key < range.end; key += kWidth) {
    StoreNarrow(pairs + key / 2, Load(weights + key));
  }
}
#endif

}  // namespace fia::FIA_ISA_NAMESPACE
