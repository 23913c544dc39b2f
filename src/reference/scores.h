// The scores of one row over the keys that it attends.
#ifndef FIA_REFERENCE_SCORES_H_
#define FIA_REFERENCE_SCORES_H_

#include <cstdint>
#include <vector>

#include "fia/attention.h"
#include "reference/antiquant.h"
#include "reference/shape.h"

namespace fia::reference {

// A row that takes part: all numbers are those of its sequence.
struct RowPlace {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
  std::int64_t i = 0;  // position in the valid part
};

struct RowScores {
  std::vector<std::int64_t> keys;  // attended positions j, increasing
  std::vector<double> scores;      // of keys
  double magnitude = 0;            // A: largest |scale| (sum|q k| + sum|qr kr|) + |bias| over keys
  bool specified = true;           // false: NaN, infinities or sums from 2^127 on; scores are then incomplete
};

// A dot product and the sum of its absolute terms.
struct Products {
  double sum = 0;
  double absolute = 0;
};

class Scorer {
 public:
  // `params` and `shape` have to outlive this object.
  Scorer(const AttentionParams& params, const CallShape& shape);

  void Score(const RowPlace& place, RowScores* result);

 private:
  double FactorOf(const RowPlace& place) const;  // what q . k is multiplied with
  void LoadQuery(const RowPlace& place);
  Products Multiply(const RowPlace& place, std::int64_t j);  // of key j, rope included

  const AttentionParams& params_;
  const CallShape& shape_;
  Antiquant antiquant_;
  std::vector<double> query_, query_rope_, key_, key_rope_, magnitudes_;
};

}  // namespace fia::reference

#endif  // FIA_REFERENCE_SCORES_H_
