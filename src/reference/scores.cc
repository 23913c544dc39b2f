#include "reference/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/mask.h"
#include "reference/storage.h"

namespace fia::reference {
namespace {

constexpr double kDomain = 0x1p127;

std::vector<double> Room(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

// Adds x . y and sum|x| |magnitudes|. Four sums side by side: one would wait for each addition.
void Add(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& magnitudes,
         Products* products) noexcept {
  double sums[4] = {};
  double absolutes[4] = {};
  std::size_t d = 0;
  for (; d + 4 <= x.size(); d += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += x[d + lane] * y[d + lane];
      absolutes[lane] += std::fabs(x[d + lane] * magnitudes[d + lane]);
    }
  }
  for (; d < x.size(); ++d) {
    sums[0] += x[d] * y[d];
    absolutes[0] += std::fabs(x[d] * magnitudes[d]);
  }
  products->sum += sums[0] + sums[1] + sums[2] + sums[3];
  products->absolute += absolutes[0] + absolutes[1] + absolutes[2] + absolutes[3];
}

}  // namespace

Scorer::Scorer(const AttentionParams& params, const CallShape& shape)
    : params_(params),
      shape_(shape),
      antiquant_(params, shape, Antiquant::Side::kKey),
      query_(Room(shape.dim)),
      query_rope_(Room(shape.rope_dim)),
      key_(Room(shape.dim)),
      key_rope_(Room(shape.rope_dim)),
      magnitudes_(Room(shape.dim)) {}

void Scorer::LoadQuery(const RowPlace& place) {
  const SequenceShape& own = shape_.sequences[static_cast<std::size_t>(place.sequence)];
  const std::int64_t token = own.query_start + own.query_begin + place.i;
  ReadRow(RowOf(params_.query, shape_.input, shape_.dim, place.sequence, token, place.head), shape_.dim,
          query_.data());
  if (shape_.rope_dim > 0) {
    ReadRow(RowOf(params_.rope->query, shape_.input, shape_.rope_dim, place.sequence, token, place.head),
            shape_.rope_dim, query_rope_.data());
  }
  antiquant_.SetHead(place.head * shape_.kv_heads / shape_.heads);
}

double Scorer::FactorOf(const RowPlace& place) const {
  const double scale = static_cast<float>(params_.scores.scale);
  if (shape_.kind == QueryKind::kInt8)
    return ReadDeqScale(params_.quantisation->int8_flow->deq_scale1) * scale;
  if (shape_.kind == QueryKind::kFloat) return scale;
  // int8 MLA: (B,S,N), (B,N,S), (T,N) or (N,T): the query's shape without D.
  const TensorView& query_scale = params_.quantisation->int8_mla->query_scale;
  const SequenceShape& own = shape_.sequences[static_cast<std::size_t>(place.sequence)];
  const std::int64_t token = own.query_start + own.query_begin + place.i;
  const bool head_first = shape_.input == AxisOrder::kBnsd || shape_.input == AxisOrder::kNtd;
  const int last = query_scale.rank - 1;
  std::int64_t position = token * query_scale.strides[head_first ? last : last - 1] +
                          place.head * query_scale.strides[head_first ? last - 1 : last];
  if (!shape_.packed) position += place.sequence * query_scale.strides[0];
  return ReadElement(query_scale, position) * ReadElement(params_.quantisation->kv_antiquant->key_scale, 0) *
         scale;
}

Products Scorer::Multiply(const RowPlace& place, std::int64_t j) {
  const std::int64_t kv_head = place.head * shape_.kv_heads / shape_.heads;
  ReadRow(KvRow(params_, shape_, KvPart::kKey, place.sequence, kv_head, j), shape_.dim, key_.data());
  const std::vector<double>* magnitudes = &key_;
  if (antiquant_.active()) {
    antiquant_.Apply(place.sequence, j, key_.data(), magnitudes_.data());
    magnitudes = &magnitudes_;
  }
  Products products;
  Add(query_, key_, *magnitudes, &products);
  if (shape_.rope_dim == 0) return products;
  ReadRow(KvRow(params_, shape_, KvPart::kKeyRope, place.sequence, kv_head, j), shape_.rope_dim,
          key_rope_.data());
  Add(query_rope_, key_rope_, key_rope_, &products);
  return products;
}

// Plain float64 sums: their error, (D + Dr) 2^-53 sum|q k|, is far below the contract's 2^-18 of it.
void Scorer::Score(const RowPlace& place, RowScores* result) {
  result->keys.clear();
  result->scores.clear();
  result->magnitude = 0;
  result->specified = true;
  const bool masked = HasFullMask(params_, shape_);
  const bool biased = HasBias(params_);
  const KeyRange range = KeysInBand(params_, shape_, place.sequence, place.i);
  if (range.begin == range.end) return;
  LoadQuery(place);
  const double factor = FactorOf(place);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    if (masked && IsMasked(params_, shape_, place.sequence, place.i, j)) continue;
    const double bias = biased ? BiasOf(params_, shape_, place.sequence, place.head, place.i, j) : 0.0;
    if (bias == -std::numeric_limits<double>::infinity()) continue;
    const Products products = Multiply(place, j);
    const double magnitude = std::fabs(factor) * products.absolute + std::fabs(bias);
    result->keys.push_back(j);
    result->scores.push_back(products.sum * factor + bias);
    result->magnitude = std::max(result->magnitude, magnitude);
    if (!(products.absolute < kDomain) || !(magnitude < kDomain)) {
      result->specified = false;
      return;
    }
  }
}

}  // namespace fia::reference
