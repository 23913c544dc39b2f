// Problems made by hand, float32 with plain storage, and the same numbers in other storage.
#ifndef FIA_TESTS_EXEC_SCENE_H_
#define FIA_TESTS_EXEC_SCENE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.h"
#include "fia/attention.h"
#include "fia/status.h"

namespace fia::testing {

struct SceneShape {
  std::int64_t heads = 2;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 8;
  std::int64_t value_dim = 8;
  std::vector<std::pair<std::int64_t, std::int64_t>> lengths;  // S1, S2 of each sequence
  std::int64_t query_axis = 0;                                 // 0: the longest S1
  std::uint64_t seed = 1;
};

struct Result {
  std::vector<float> out;  // (B, N, Q_S, Dv)
  std::vector<float> lse;  // (B, N, Q_S)

  bool SameBits(const Result& other) const;
};

class Scene {
 public:
  explicit Scene(const SceneShape& shape);

  Problem problem;
  SceneShape shape;
  std::vector<float> query;  // (B, N, Q_S, D)
  std::vector<float> key;    // (B, Nk, KV_S, D)
  std::vector<float> value;  // (B, Nk, KV_S, Dv)
  std::vector<void*> addresses;
  std::int64_t key_axis = 0;

  std::int64_t batch() const { return static_cast<std::int64_t>(shape.lengths.size()); }

  // Memory that lives as long as the scene, at the address of `argument`.
  template <class T>
  void Give(Argument argument, const std::vector<T>& contents) {
    Give(static_cast<int>(argument), contents.data(), contents.size() * sizeof(T));
  }

  // The numbers of the plain storage, put into blocks of a cache in random order.
  void UsePages(std::int64_t block_size);
  // The first tokens of every sequence made the same and moved into a prefix.
  void UsePrefix(std::int64_t length);
  // Elements of a row in chunks that are not adjacent, or `stride` floats apart.
  void UseChunks(std::int64_t chunk);
  void UseDimStride(std::int64_t stride);
  void SetBand(std::int64_t low, std::int64_t high);

  // Plans and runs; outputs begin as NaN. `status` null: a failure fails the test.
  Result Run(int workers, Status* status = nullptr,
             const std::optional<ParallelFor>& parallel_for = std::nullopt);
  // As Run, of a plan made before.
  Result Run(const Plan& plan, Status* status = nullptr);

  // Softmax attention in double over the keys that the band attends; empty rows: 0 and +inf.
  Result Expected() const;

 private:
  void Give(int slot, const void* contents, std::size_t bytes);
  void DescribeTensors();
  void DescribeSequences();
  std::vector<std::int64_t> Shuffled(std::int64_t count);

  std::deque<std::vector<std::uint64_t>> memory_;
};

// Every element of `got` is within `tolerance` of `expected`; infinities and NaN must agree.
std::string Difference(const Result& got, const Result& expected, double tolerance = 1e-5);

}  // namespace fia::testing

#endif  // FIA_TESTS_EXEC_SCENE_H_
