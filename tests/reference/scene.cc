#include "scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/reference.h"

namespace fia::testing {

Numbers Stream(int which) {
  return [which](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t d) {
    Rng rng(static_cast<std::uint64_t>((((which * 31 + b) * 31 + n) * 1009 + i) * 1009 + d));
    return static_cast<double>(rng.Between(-8, 8)) / 8;
  };
}

Answer Solve(const Scene& scene, std::int64_t b, std::int64_t n, std::int64_t i,
             const std::vector<std::int64_t>& keys) {
  const std::int64_t kv = n / (scene.heads / scene.kv_heads);
  std::vector<long double> sums(static_cast<std::size_t>(scene.value_dim), 0.0L);
  long double total = 0;
  for (const std::int64_t j : keys) {
    long double dot = 0;
    for (std::int64_t d = 0; d < scene.dim; ++d)
      dot += static_cast<long double>(scene.query(b, n, i, d)) * scene.key(b, kv, j, d);
    const long double bias = scene.bias ? scene.bias(b, n, i, j) : 0.0;
    const long double weight = std::exp(dot * static_cast<float>(scene.scale) + bias);
    total += weight;
    for (std::int64_t d = 0; d < scene.value_dim; ++d)
      sums[static_cast<std::size_t>(d)] += weight * scene.value(b, kv, j, d);
  }
  Answer answer;
  answer.lse = static_cast<double>(std::log(total));
  for (const long double sum : sums) answer.out.push_back(static_cast<double>(sum / total));
  return answer;
}

std::vector<std::int64_t> FirstKeys(std::int64_t count) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(count));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

Tensor Arrange(const Arrangement& how, const std::vector<std::int64_t>& lengths, std::int64_t heads,
               std::int64_t dim, const Numbers& numbers) {
  const bool packed = how.form.find('T') != std::string::npos;
  const std::int64_t batch = static_cast<std::int64_t>(lengths.size());
  const std::int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  std::vector<std::int64_t> dims;
  for (const char axis : how.form) {
    if (axis == 'B') dims.push_back(batch);
    if (axis == 'S') dims.push_back(how.axis);
    if (axis == 'T') dims.push_back(tokens);
    if (axis == 'N') dims.push_back(heads);
    if (axis == 'D') dims.push_back(dim);
    if (axis == 'H') dims.push_back(heads * dim);
  }
  Tensor tensor(how.dtype, dims, how.storage);
  const bool integer = how.dtype == DataType::kInt8 || how.dtype == DataType::kInt4;
  tensor.Fill(integer ? 99.0 : std::nan(""));
  for (std::int64_t b = 0, start = 0; b < batch; start += lengths[static_cast<std::size_t>(b++)]) {
    for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t) {
      for (std::int64_t e = 0; e < heads * dim; ++e) {
        std::vector<std::int64_t> index;
        for (const char axis : how.form) {
          if (axis == 'B') index.push_back(b);
          if (axis == 'S') index.push_back(t);
          if (axis == 'T') index.push_back(start + t);
          if (axis == 'N') index.push_back(e / dim);
          if (axis == 'D') index.push_back(e % dim);
          if (axis == 'H') index.push_back(e);
        }
        tensor.Put(index, numbers(b, e / dim, t, e % dim));
      }
    }
  }
  EXPECT_TRUE(packed || how.axis >= *std::max_element(lengths.begin(), lengths.end()));
  return tensor;
}

std::vector<std::int64_t> Cumulative(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> ends(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), ends.begin());
  return ends;
}

std::string InputForm(const std::string& layout) { return layout.substr(0, layout.find('_')); }

std::string OutputForm(const std::string& layout) {
  const std::size_t bar = layout.find('_');
  return bar == std::string::npos ? layout : layout.substr(bar + 1);
}

PlainCall MakePlainCall(const Scene& scene, const std::string& layout) {
  const auto longest = [](const std::vector<std::int64_t>& lengths) {
    return *std::max_element(lengths.begin(), lengths.end());
  };
  const std::int64_t rows = longest(scene.query_lengths);
  const std::int64_t keys = longest(scene.kv_lengths);
  const std::string form = InputForm(layout);
  const bool packed = form.find('T') != std::string::npos;
  PlainCall call;
  call.query =
      Arrange({form, DataType::kFloat16, rows, {}}, scene.query_lengths, scene.heads, scene.dim, scene.query);
  call.key =
      Arrange({form, DataType::kFloat16, keys, {}}, scene.kv_lengths, scene.kv_heads, scene.dim, scene.key);
  call.value = Arrange({form, DataType::kFloat16, keys, {}}, scene.kv_lengths, scene.kv_heads,
                       scene.value_dim, scene.value);
  call.out = Arrange({OutputForm(layout), DataType::kFloat16, rows, {}}, scene.query_lengths, scene.heads,
                     scene.value_dim, Stream(0));
  call.params.query = call.query.view();
  call.params.key = {call.key.view()};
  call.params.value = {call.value.view()};
  call.params.attention_out = call.out.view();
  call.params.heads = {layout, scene.heads, scene.kv_heads};
  call.params.scores.scale = scene.scale;
  call.params.lengths = SequenceLengths{packed ? Cumulative(scene.query_lengths) : scene.query_lengths,
                                        packed ? Cumulative(scene.kv_lengths) : scene.kv_lengths};
  return call;
}

ReferenceRow RowOf(const AttentionParams& params, std::int64_t b, std::int64_t n, std::int64_t position) {
  const std::vector<RowIndex> rows = {{b, n, position}};
  ReferenceResult result;
  const Status status = reference::ComputeAccepted(params, &rows, &result);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(result.rows.size(), 1u);
  return result.rows.empty() ? ReferenceRow() : result.rows[0];
}

void ExpectRow(const ReferenceRow& row, const Answer& answer) {
  EXPECT_FALSE(row.empty);
  EXPECT_NEAR(row.lse, answer.lse, 1e-12 * std::max(1.0, std::fabs(answer.lse)));
  ASSERT_EQ(row.out.size(), answer.out.size());
  for (std::size_t d = 0; d < answer.out.size(); ++d) {
    EXPECT_NEAR(row.out[d], answer.out[d], 1e-12) << "element " << d;
    EXPECT_LE(row.out_low[d], row.out[d]);
    EXPECT_GE(row.out_high[d], row.out[d]);
  }
}

void ExpectEmpty(const ReferenceRow& row) {
  EXPECT_TRUE(row.empty);
  EXPECT_EQ(row.lse, std::numeric_limits<double>::infinity());
  EXPECT_EQ(row.lse_tolerance, 0.0);
  EXPECT_FALSE(row.out.empty());
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    EXPECT_EQ(row.out[d], 0.0);
    EXPECT_EQ(row.out_low[d], 0.0);
    EXPECT_EQ(row.out_high[d], 0.0);
  }
}

void ExpectUnspecified(const ReferenceRow& row) {
  EXPECT_TRUE(std::isnan(row.lse) && std::isnan(row.lse_tolerance));
  for (std::size_t d = 0; d < row.out.size(); ++d)
    EXPECT_TRUE(std::isnan(row.out_low[d]) && std::isnan(row.out_high[d]));
}

}  // namespace fia::testing
