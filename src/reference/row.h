// One output row: exact values and the ranges of correct ones.
#ifndef FIA_REFERENCE_ROW_H_
#define FIA_REFERENCE_ROW_H_

#include <vector>

#include "fia/attention.h"
#include "fia/reference.h"
#include "reference/antiquant.h"
#include "reference/bounds.h"
#include "reference/scores.h"
#include "reference/shape.h"
#include "reference/weights.h"

namespace fia::reference {

class RowComputer {
 public:
  // `params` and `shape` have to outlive this object.
  RowComputer(const AttentionParams& params, const CallShape& shape);

  // row->index is set and lies in the output.
  void Compute(ReferenceRow* row);

 private:
  // Sums over the attended keys, [Dv] each.
  struct Sums {
    std::vector<double> exact, low, high;  // weight * value
    std::vector<double> absolute;          // |weight| |value|; not finite where a value is not
    std::vector<double> largest;           // the greatest |value|
  };

  void FillEmpty(ReferenceRow* row) const;
  void FillUnspecified(ReferenceRow* row) const;
  void AddValues(const RowPlace& place);
  ElementRange Finish(std::int64_t head, std::size_t d) const;

  const AttentionParams& params_;
  const CallShape& shape_;
  Scorer scorer_;
  Antiquant antiquant_;
  RowScores scores_;
  RowWeights weights_;
  Sums sums_;
  std::vector<double> value_, magnitudes_;
};

}  // namespace fia::reference

#endif  // FIA_REFERENCE_ROW_H_
