#include "eigen_attention.h"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

namespace fia::bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Element>
Matrix Load(const std::uint16_t* from, std::int64_t rows, std::int64_t columns) {
  using Stored = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Stored>(reinterpret_cast<const Element*>(from), rows, columns)
      .template cast<float>();
}

// Rows of `scores` are the group's heads, then positions: row % query_length is the position.
void MaskScores(const EigenAttention& call, Matrix* scores) {
  const std::int64_t shift = call.kv_length - call.query_length;
  for (std::int64_t row = 0; row < scores->rows(); ++row) {
    const std::int64_t diagonal = row % call.query_length + shift;
    const std::int64_t after = std::clamp<std::int64_t>(diagonal + 1, 0, call.kv_length);
    scores->row(row).tail(call.kv_length - after).setConstant(-std::numeric_limits<float>::infinity());
    if (call.band_before < 0) continue;
    const std::int64_t before = std::clamp<std::int64_t>(diagonal - call.band_before, 0, call.kv_length);
    scores->row(row).head(before).setConstant(-std::numeric_limits<float>::infinity());
  }
}

template <typename Element>
void RunHead(const EigenAttention& call, std::int64_t batch_head) {
  const std::int64_t group = call.heads / call.kv_heads;
  const std::int64_t rows = group * call.query_length;
  const Matrix query = Load<Element>(call.query + batch_head * rows * call.dim, rows, call.dim);
  const Matrix key =
      Load<Element>(call.key + batch_head * call.kv_length * call.dim, call.kv_length, call.dim);
  const Matrix value = Load<Element>(call.value + batch_head * call.kv_length * call.value_dim,
                                     call.kv_length, call.value_dim);
  Matrix scores(rows, call.kv_length);
  scores.noalias() = (query * call.scale) * key.transpose();
  if (call.causal) MaskScores(call, &scores);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto line = scores.row(row).array();
    line = (line - line.maxCoeff()).exp();
    line /= line.sum();
  }
  Matrix out(rows, call.value_dim);
  out.noalias() = scores * value;
  using Stored = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Stored>(reinterpret_cast<Element*>(call.out) + batch_head * rows * call.value_dim, rows,
                     call.value_dim) = out.cast<Element>();
}

}  // namespace

void RunEigenAttention(const EigenAttention& call, int threads) {
  const std::int64_t items = call.batch * call.kv_heads;
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (std::int64_t item = next++; item < items; item = next++) {
      if (call.bf16) {
        RunHead<Eigen::bfloat16>(call, item);
      } else {
        RunHead<Eigen::half>(call, item);
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int index = 1; index < threads; ++index) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace fia::bench
