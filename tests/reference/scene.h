// Small calls whose numbers are known by meaning (sequence, head, position, element), and the answer computed
// from those numbers without any tensor.
#ifndef FIA_TESTS_REFERENCE_SCENE_H_
#define FIA_TESTS_REFERENCE_SCENE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fia/attention.h"
#include "fia/reference.h"
#include "support/tensor.h"

namespace fia::testing {

// The number at (sequence, head, position, element).
using Numbers = std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

// Pairwise different streams of multiples of 1/8 in -1..1, which every type here holds exactly.
Numbers Stream(int which);

struct Scene {
  std::int64_t heads = 2;
  std::int64_t kv_heads = 1;
  std::int64_t dim = 16;
  std::int64_t value_dim = 16;
  double scale = 0.5;
  std::vector<std::int64_t> query_lengths = {3, 2};
  std::vector<std::int64_t> kv_lengths = {5, 4};
  Numbers query = Stream(1);
  Numbers key = Stream(2);
  Numbers value = Stream(3);
  // Bias of key j for row i of head n; null: none.
  std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> bias;

  std::int64_t batch() const { return static_cast<std::int64_t>(query_lengths.size()); }
};

struct Answer {
  std::vector<double> out;
  double lse = 0;
};

// Softmax attention of one row over the given keys, in long double.
Answer Solve(const Scene& scene, std::int64_t b, std::int64_t n, std::int64_t i,
             const std::vector<std::int64_t>& keys);

// 0, 1, ..., count-1.
std::vector<std::int64_t> FirstKeys(std::int64_t count);

// Axes in the order of the form's letters (BSH, BSND, BNSD, NBSD, TND, NTD). Padded forms: S is `axis`, and
// positions from lengths[b] on are NaN (integers: 99); packed ones: T is the sum of lengths.
struct Arrangement {
  std::string form;
  DataType dtype = DataType::kFloat16;
  std::int64_t axis = 0;
  Storage storage;
};
Tensor Arrange(const Arrangement& how, const std::vector<std::int64_t>& lengths, std::int64_t heads,
               std::int64_t dim, const Numbers& numbers);

// Sums of the leading entries: the packed form of lengths.
std::vector<std::int64_t> Cumulative(const std::vector<std::int64_t>& lengths);

// The parts of a name X_Y: where the inputs' and the output's axes lie.
std::string InputForm(const std::string& layout);
std::string OutputForm(const std::string& layout);

// The tensors of a plain call of the scene and the parameters that point at them.
struct PlainCall {
  Tensor query, key, value, out;
  AttentionParams params;
};
PlainCall MakePlainCall(const Scene& scene, const std::string& layout);

// The reference's row; fails the test when there is none.
ReferenceRow RowOf(const AttentionParams& params, std::int64_t b, std::int64_t n, std::int64_t position);

// Equal but for float64 rounding.
void ExpectRow(const ReferenceRow& row, const Answer& answer);
void ExpectEmpty(const ReferenceRow& row);
void ExpectUnspecified(const ReferenceRow& row);

}  // namespace fia::testing

#endif  // FIA_TESTS_REFERENCE_SCENE_H_
