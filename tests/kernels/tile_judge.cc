// The definition of a case's result in double, and how far a kernel may be from it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/tile_case.h"

namespace fia::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Scores of one row and A, the largest sum of magnitudes that one is made of.
struct RowScores {
  std::vector<double> score;  // -inf: not attended
  double magnitude = 0;
};

// The element at `index` of a factor that may be absent.
double Factor(const std::vector<float>& values, std::int64_t index, double absent) {
  return values.empty() ? absent : values[static_cast<std::size_t>(index)];
}

RowScores ScoresOf(const TileData& data, std::int64_t row) {
  const TileCase& spec = data.spec;
  RowScores result;
  for (std::int64_t key = 0; key < spec.keys(); ++key) {
    result.score.push_back(-kInfinity);
    if (!data.Attends(row, key)) continue;
    double dot = 0, magnitude = 0;
    const auto add = [&](double product) {
      dot += product;
      magnitude += std::abs(product);
    };
    for (std::int64_t d = 0; d < spec.head_dim; ++d) add(data.query.Get(row, d) * data.key.Get(key, d));
    for (std::int64_t d = 0; d < spec.rope_dim; ++d)
      add(data.query_rope.Get(row, d) * data.key_rope.Get(key, d));
    if (spec.row_offset) add(Factor(data.row_offset, row, 0) * Factor(data.key_offset, key, 1));
    const double factor = Factor(data.key_scale, key, 1) * Factor(data.row_scale, row, 1) * spec.scale;
    const double bias = spec.bias != DataType::kUndefined ? data.bias.Get(row, key) : 0;
    result.score.back() = dot * factor + bias;
    result.magnitude = std::max(result.magnitude, magnitude * std::abs(factor) + std::abs(bias));
  }
  return result;
}

// The weight of each key, in units where row_sum is the plain sum of exp(s - m), and by how much it may be
// off because an int8 may be its neighbour.
struct RowWeights {
  double max = -kInfinity;
  double sum = 0;
  std::vector<double> weight, slack;
};

// Nearest integer and whether a small error could make it the next one.
void Round(double x, double error, double unit, double* weight, double* slack) {
  const double rounded = std::min(127.0, std::max(-128.0, std::nearbyint(x)));
  *weight = rounded * unit;
  *slack = std::abs(std::abs(x - std::floor(x)) - 0.5) <= error ? unit : 0;
}

RowWeights WeightsOf(const TileCase& spec, const RowScores& scores) {
  RowWeights result;
  result.weight.resize(scores.score.size());
  result.slack.resize(scores.score.size());
  for (double score : scores.score) result.max = std::max(result.max, score);
  const double relative = 0x1p-18 * (1 + scores.magnitude);
  std::size_t key = 0;
  for (std::int64_t keys : spec.tiles) {
    double block_max = -kInfinity;
    const std::size_t end = key + static_cast<std::size_t>(keys);
    for (std::size_t j = key; j < end; ++j) block_max = std::max(block_max, scores.score[j]);
    for (; key < end; ++key) {
      const double score = scores.score[key];
      if (score == -kInfinity) continue;
      const double p = std::exp(score - result.max);
      result.sum += p;
      result.weight[key] = p;
      if (spec.weights == Weights::kBlockInt8) {
        Round(127 * std::exp(score - block_max), 127 * relative, std::exp(block_max - result.max) / 127,
              &result.weight[key], &result.slack[key]);
      } else if (spec.weights == Weights::kFixedMaxInt8) {
        Round(p * spec.weight_scale, spec.weight_scale * relative, 1, &result.weight[key],
              &result.slack[key]);
      }
    }
  }
  return result;
}

void ExpectEmpty(const OwnedState& state, std::int64_t row, std::int64_t value_dim) {
  const auto r = static_cast<std::size_t>(row);
  EXPECT_EQ(state.row_max[r], -std::numeric_limits<float>::infinity()) << "row " << row;
  EXPECT_EQ(state.row_sum[r], 0) << "row " << row;
  for (std::int64_t d = 0; d < value_dim; ++d) {
    EXPECT_EQ(state.acc[static_cast<std::size_t>(row * state.acc_stride + d)], 0)
        << "row " << row << " dim " << d;
  }
}

void ExpectSums(const TileData& data, const OwnedState& state, std::int64_t row, const RowWeights& weights,
                double magnitude) {
  const TileCase& spec = data.spec;
  // Half a unit of the last of a weight's 8 bits, where they are rounded.
  const double rounding = spec.body == Body::kBfloat16 ? 0x1p-8 : 0;
  const double relative = 0x1p-18 * (1 + magnitude) + rounding;
  double offset = 0, offset_magnitude = 0;
  for (std::int64_t d = 0; d < spec.value_dim; ++d) {
    double exact = 0, weight_of = 0, slack = 0;
    bool finite = true;
    for (std::int64_t key = 0; key < spec.keys(); ++key) {
      const auto j = static_cast<std::size_t>(key);
      if (!data.Attends(row, key)) continue;
      const double value = data.value.Get(key, d);
      const double factor = weights.weight[j] * Factor(data.value_scale, key, 1);
      finite = finite && std::isfinite(value);
      exact += factor * value;
      weight_of += std::abs(factor * value);
      slack += weights.slack[j] * std::abs(value);
      if (d == 0) offset += factor * Factor(data.value_offset, key, 0);
      if (d == 0) offset_magnitude += std::abs(factor * Factor(data.value_offset, key, 0));
    }
    const double got = state.acc[static_cast<std::size_t>(row * state.acc_stride + d)];
    if (!finite) {
      EXPECT_FALSE(std::isfinite(got)) << "row " << row << " dim " << d << " attends a non-finite value";
      continue;
    }
    EXPECT_LE(std::abs(got - exact), relative * weight_of + slack + 1e-36)
        << "row " << row << " dim " << d << " got " << got << " exact " << exact;
    if (std::isnan(got)) ADD_FAILURE() << "NaN in row " << row << " dim " << d;
  }
  if (spec.value_offset) {
    EXPECT_LE(std::abs(state.offset_sum[static_cast<std::size_t>(row)] - offset),
              relative * offset_magnitude);
  }
}

}  // namespace

void ExpectRight(const TileData& data, const OwnedState& state) {
  SCOPED_TRACE(ToText(data.spec));
  for (std::int64_t row = 0; row < data.spec.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const RowScores scores = ScoresOf(data, row);
    const RowWeights weights = WeightsOf(data.spec, scores);
    if (weights.max == -kInfinity) {
      ExpectEmpty(state, row, data.spec.value_dim);
      continue;
    }
    const double lse = state.row_max[r] + std::log(state.row_sum[r]);
    const double exact_lse = weights.max + std::log(weights.sum);
    EXPECT_LE(std::abs(lse - exact_lse), 3e-6 * std::max({1.0, std::abs(exact_lse), scores.magnitude}))
        << "row " << row << " lse " << lse << " exact " << exact_lse;
    EXPECT_FALSE(std::isnan(lse)) << "row " << row;
    ExpectSums(data, state, row, weights, scores.magnitude);
    if (::testing::Test::HasFailure()) return;  // one row says enough
  }
}

}  // namespace fia::testing
