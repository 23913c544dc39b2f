#include "reference/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fia::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMlaBlock = 512;  // keys that share one maximum in int8 MLA

// A rounded p: its exact value, and the range when p * factor may be off by `slack`.
struct Rounded {
  double exact, low, high;
};

Rounded RoundWeight(double x, double slack, double least, double most) noexcept {
  return {std::clamp(std::nearbyint(x), least, most), std::clamp(std::ceil(x - slack - 0.5), least, most),
          std::clamp(std::floor(x + slack + 0.5), least, most)};
}

void Resize(std::size_t count, RowWeights* weights) {
  weights->exact.resize(count);
  weights->low.resize(count);
  weights->high.resize(count);
}

void Put(std::size_t t, const Rounded& rounded, double factor, RowWeights* weights) noexcept {
  weights->exact[t] = rounded.exact * factor;
  weights->low[t] = rounded.low * factor;
  weights->high[t] = rounded.high * factor;
}

double Slack(double magnitude, double factor) noexcept {
  return (0x1p-18 + 0x1p-18 * magnitude) * std::fabs(factor);
}

// p8 = saturate(round(p * quantScale1)).
void QuantiseRow(const AttentionParams& params, const RowScores& scores, RowWeights* weights) {
  const Int8Flow& flow = *params.quantisation->int8_flow;
  const double factor = ReadElement(flow.quant_scale1, 0);
  weights->value_factor = ReadDeqScale(flow.deq_scale2);
  weights->specified = std::isfinite(factor) && std::isfinite(weights->value_factor);
  if (!weights->specified) return;
  const double slack = Slack(weights->magnitude, factor);
  for (std::size_t t = 0; t < scores.keys.size(); ++t) {
    const double p = std::exp(scores.scores[t] - weights->row_max);
    Put(t, RoundWeight(p * factor, slack, -128, 127), 1.0, weights);
  }
}

// p8 = round(127 * exp(s - c)) with c the maximum of the key's block, brought back to m by exp(c - m) / 127.
void QuantiseBlocks(const AttentionParams& params, const RowScores& scores, RowWeights* weights) {
  weights->value_factor = ReadElement(params.quantisation->kv_antiquant->value_scale, 0);
  weights->specified = std::isfinite(weights->value_factor);
  if (!weights->specified) return;
  const double slack = Slack(weights->magnitude, 127);
  const std::size_t count = scores.keys.size();
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    const std::int64_t block = scores.keys[begin] / kMlaBlock;
    double block_max = -kInfinity;
    for (end = begin; end < count && scores.keys[end] / kMlaBlock == block; ++end)
      block_max = std::max(block_max, scores.scores[end]);
    const double factor = std::exp(block_max - weights->row_max) / 127;
    for (std::size_t t = begin; t < end; ++t) {
      const double x = 127 * std::exp(scores.scores[t] - block_max);
      Put(t, RoundWeight(x, slack, 0, 127), factor, weights);
    }
  }
}

}  // namespace

void ComputeWeights(const AttentionParams& params, const CallShape& shape, std::int64_t head,
                    const RowScores& scores, RowWeights* weights) {
  const std::size_t count = scores.keys.size();
  Resize(count, weights);
  weights->value_factor = 1;
  weights->magnitude = scores.magnitude;
  weights->specified = true;
  double sink = -kInfinity;
  const TensorView& sinks = params.scores.learnable_sink;
  if (sinks.present()) {
    sink = ReadElement(sinks, head * sinks.strides[0]);
    weights->specified = sink == -kInfinity || std::fabs(sink) < 0x1p127;  // false for NaN
    if (!weights->specified) return;
    if (sink != -kInfinity) weights->magnitude = std::max(weights->magnitude, std::fabs(sink));
  }
  weights->row_max = std::max(*std::max_element(scores.scores.begin(), scores.scores.end()), sink);
  weights->row_sum = std::exp(sink - weights->row_max);
  for (std::size_t t = 0; t < count; ++t) {
    const double p = std::exp(scores.scores[t] - weights->row_max);
    Put(t, {p, p, p}, 1.0, weights);
    weights->row_sum += p;
  }
  if (shape.kind == QueryKind::kInt8) QuantiseRow(params, scores, weights);
  if (shape.kind == QueryKind::kInt8Mla) QuantiseBlocks(params, scores, weights);
}

}  // namespace fia::reference
