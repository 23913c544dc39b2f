// From scores to what multiplies the values: the softmax and its quantised forms.
#ifndef FIA_REFERENCE_WEIGHTS_H_
#define FIA_REFERENCE_WEIGHTS_H_

#include <vector>

#include "fia/attention.h"
#include "reference/scores.h"
#include "reference/shape.h"

namespace fia::reference {

// out[d] = sum_t weight[t] * value[t][d] * value_factor / row_sum. low and high bound each weight: equal to
// `exact` but where a rounded p may be the neighbouring integer.
struct RowWeights {
  std::vector<double> exact, low, high;  // one for each of RowScores::keys
  double value_factor = 1;
  double row_max = 0;    // m, sink included
  double row_sum = 0;    // l, of the unrounded p, sink included
  double magnitude = 0;  // A, sink included
  bool specified = true;
};

// Of head `head`; scores has at least one key and is specified.
void ComputeWeights(const AttentionParams& params, const CallShape& shape, std::int64_t head,
                    const RowScores& scores, RowWeights* weights);

}  // namespace fia::reference

#endif  // FIA_REFERENCE_WEIGHTS_H_
