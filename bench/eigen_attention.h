// The yardstick: attention in three steps with Eigen's own matrix product.
#ifndef FIA_BENCH_EIGEN_ATTENTION_H_
#define FIA_BENCH_EIGEN_ATTENTION_H_

#include <cstdint>

namespace fia::bench {

// Contiguous BNSD tensors; 16-bit elements are fp16, or bf16 if `bf16` is set.
struct EigenAttention {
  const std::uint16_t* query = nullptr;  // [batch, heads, query_length, dim]
  const std::uint16_t* key = nullptr;    // [batch, kv_heads, kv_length, dim]
  const std::uint16_t* value = nullptr;  // [batch, kv_heads, kv_length, value_dim]
  std::uint16_t* out = nullptr;          // [batch, heads, query_length, value_dim]
  bool bf16 = false;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t query_length = 1;
  std::int64_t kv_length = 1;
  std::int64_t dim = 1;
  std::int64_t value_dim = 1;
  float scale = 1;
  std::int64_t band_before = -1;  // keys before i + kv_length - query_length that are attended; -1: all
  bool causal = false;            // keys after it are masked
};

// For each kv head: scores = Q K^T (all group rows in one product), mask, softmax of rows, out = P V, in
// float32 with materialised scores. kv heads are shared out among `threads` threads.
void RunEigenAttention(const EigenAttention& call, int threads);

}  // namespace fia::bench

#endif  // FIA_BENCH_EIGEN_ATTENTION_H_
