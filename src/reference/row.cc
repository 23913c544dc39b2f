#include "reference/row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/storage.h"

namespace fia::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr ElementRange kUnspecified = {kNaN, kNaN, kNaN};

const Int8Output* Int8OutputOf(const AttentionParams& params) noexcept {
  if (!params.quantisation || !params.quantisation->int8_output) return nullptr;
  return params.quantisation->int8_output->scale.present() ? &*params.quantisation->int8_output : nullptr;
}

// Element (head, d) of quantScale2 or quantOffset2: one for all, or row-major over N * Dv.
double OutputFactor(const TensorView& view, std::int64_t number) noexcept {
  return ReadNumbered(view, 0, CountElements(view) == 1 ? 0 : number);
}

}  // namespace

RowComputer::RowComputer(const AttentionParams& params, const CallShape& shape)
    : params_(params),
      shape_(shape),
      scorer_(params, shape),
      antiquant_(params, shape, Antiquant::Side::kValue),
      value_(static_cast<std::size_t>(shape.value_dim)),
      magnitudes_(static_cast<std::size_t>(shape.value_dim)) {}

void RowComputer::Compute(ReferenceRow* row) {
  const std::int64_t b = row->index.sequence;
  const SequenceShape& own = shape_.sequences[static_cast<std::size_t>(b)];
  const bool fits = own.query_begin >= 0 && own.kv_begin >= 0;
  const RowPlace place = {b, row->index.head, fits ? row->index.position - own.query_begin : -1};
  const bool valid = place.i >= 0 && place.i < own.query_length;
  if (valid) scorer_.Score(place, &scores_);
  if (!valid || scores_.keys.empty()) return FillEmpty(row);
  if (!scores_.specified) return FillUnspecified(row);
  ComputeWeights(params_, shape_, place.head, scores_, &weights_);
  if (!weights_.specified) return FillUnspecified(row);

  row->empty = false;
  row->lse = weights_.row_max + std::log(weights_.row_sum);
  row->lse_tolerance = 4e-6 * std::max({1.0, std::fabs(row->lse), weights_.magnitude});
  AddValues(place);
  for (std::size_t d = 0; d < row->out.size(); ++d) {
    const ElementRange range = Finish(place.head, d);
    row->out[d] = range.exact;
    row->out_low[d] = range.low;
    row->out_high[d] = range.high;
  }
}

// Output 0 and lse +inf, whatever the output's type; but a decode call's sequence without any key gives the
// rounded offset of an int8 output.
void RowComputer::FillEmpty(ReferenceRow* row) const {
  double exact = 0;
  row->empty = true;
  row->lse = kInfinity;
  row->lse_tolerance = 0;
  const Int8Output* output = Int8OutputOf(params_);
  const bool offset_only = output != nullptr && output->offset.present() && shape_.decode &&
                           shape_.KeyCount(row->index.sequence) == 0;
  for (std::size_t d = 0; d < row->out.size(); ++d) {
    if (offset_only)
      exact = OutputFactor(output->offset, row->index.head * shape_.value_dim + static_cast<std::int64_t>(d));
    row->out[d] = exact;
    row->out_low[d] = row->out_high[d] = std::isfinite(exact) ? SaturateInt8(exact) : kNaN;
  }
}

void RowComputer::FillUnspecified(ReferenceRow* row) const {
  row->empty = false;
  row->lse = row->lse_tolerance = kNaN;
  std::fill(row->out.begin(), row->out.end(), kNaN);
  std::fill(row->out_low.begin(), row->out_low.end(), kNaN);
  std::fill(row->out_high.begin(), row->out_high.end(), kNaN);
}

// Plain float64 sums over n keys: their error, n 2^-53 sum|p v|, is 2^-33 of it at n = 2^20, far below the
// contract's 2^-17.
void RowComputer::AddValues(const RowPlace& place) {
  for (std::vector<double>* sums : {&sums_.exact, &sums_.low, &sums_.high, &sums_.absolute, &sums_.largest})
    sums->assign(value_.size(), 0.0);
  const std::int64_t kv_head = place.head * shape_.kv_heads / shape_.heads;
  antiquant_.SetHead(kv_head);
  for (std::size_t t = 0; t < scores_.keys.size(); ++t) {
    const HeadRow stored = KvRow(params_, shape_, KvPart::kValue, place.sequence, kv_head, scores_.keys[t]);
    ReadRow(stored, shape_.value_dim, value_.data());
    const double* magnitudes = value_.data();
    if (antiquant_.active()) {
      antiquant_.Apply(place.sequence, scores_.keys[t], value_.data(), magnitudes_.data());
      magnitudes = magnitudes_.data();
    }
    const double low = weights_.low[t];
    const double high = weights_.high[t];
    const double most = std::max(std::fabs(low), std::fabs(high));
    for (std::size_t d = 0; d < value_.size(); ++d) {
      const double magnitude = std::fabs(magnitudes[d]);
      sums_.exact[d] += weights_.exact[t] * value_[d];
      sums_.absolute[d] += most * magnitude;
      sums_.largest[d] = std::max(sums_.largest[d], magnitude);
    }
    if (shape_.kind == QueryKind::kFloat) continue;  // low and high are exact
    for (std::size_t d = 0; d < value_.size(); ++d) {
      sums_.low[d] += std::min(low * value_[d], high * value_[d]);
      sums_.high[d] += std::max(low * value_[d], high * value_[d]);
    }
  }
  if (shape_.kind == QueryKind::kFloat) sums_.low = sums_.high = sums_.exact;
}

ElementRange RowComputer::Finish(std::int64_t head, std::size_t d) const {
  const double keys = static_cast<double>(scores_.keys.size());
  const double factor = weights_.value_factor / weights_.row_sum;
  const double largest = sums_.largest[d] * std::fabs(weights_.value_factor);
  if (!std::isfinite(sums_.absolute[d]) || !(keys * largest < 0x1p127)) return kUnspecified;
  ElementValue value;
  value.exact = sums_.exact[d] * factor;
  value.low = std::min(sums_.low[d] * factor, sums_.high[d] * factor);
  value.high = std::max(sums_.low[d] * factor, sums_.high[d] * factor);
  const double relative =
      RelativeError(params_, static_cast<std::int64_t>(scores_.keys.size())) + 0x1p-18 * weights_.magnitude;
  value.error = relative * sums_.absolute[d] * std::fabs(factor) + keys * 0x1p-125 * largest;
  const Int8Output* output = Int8OutputOf(params_);
  if (output == nullptr) return RangeOfFloat(params_.attention_out.dtype, value);
  const std::int64_t number = head * shape_.value_dim + static_cast<std::int64_t>(d);
  const double scale = OutputFactor(output->scale, number);
  const double offset = output->offset.present() ? OutputFactor(output->offset, number) : 0.0;
  if (!std::isfinite(scale) || !std::isfinite(offset)) return kUnspecified;
  return RangeOfInt8(value, scale, offset);
}

}  // namespace fia::reference
