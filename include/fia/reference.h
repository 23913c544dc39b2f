// The definition, in float64, and the judge of results. For people who compare another implementation (a
// kernel on an accelerator, say) with the right answer. Not fast: plain loops over every attended pair.
#ifndef FIA_REFERENCE_H_
#define FIA_REFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fia/attention.h"

namespace fia {

// One output row: query position `position` (padded layouts: index on the S axis; packed: within the
// sequence) of head `head` of sequence `sequence`.
struct RowIndex {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
  std::int64_t position = 0;
};

// A row's exact result and what its error bound is made of.
struct ReferenceRow {
  RowIndex index;
  std::vector<double> out;  // [Dv] exact; int8 output: before rounding, scaled and offset
  std::vector<double> out_low,
      out_high;    // [Dv] the closed range of correct values (of the output type) for this element
  double lse = 0;  // exact; +inf for an empty row
  double lse_tolerance = 0;
  bool empty = false;  // attends no key: out 0, lse +inf
};

// The whole answer, row by row.
struct ReferenceResult {
  std::int64_t value_dim = 0;  // Dv
  std::vector<ReferenceRow> rows;
};

// Computes the exact answer of an accepted call from the data that `params` points at. `rows` chooses which
// rows; null means all rows of the output, padding rows included. Reads every tensor the call reads; writes
// only *result. Errors: those of GetWorkspaceSize and kRuntimeError for null addresses and block ids. Thread
// safe.
Status ComputeReference(const AttentionParams& params, const std::vector<RowIndex>* rows,
                        ReferenceResult* result) noexcept;

// How a result compares with the answer.
struct Comparison {
  bool passed = false;
  double worst_ratio =
      0;  // largest |got - exact| / allowed over out and lse elements; > 1 fails; inf for a NaN on one side
  RowIndex worst_row;           // where
  std::int64_t worst_dim = -1;  // element of the head, -1: the lse
  double worst_got = 0, worst_exact = 0, worst_allowed = 0;
  std::int64_t compared = 0;  // elements compared
  std::int64_t differing =
      0;                // int8 output: elements that differ from the rounded exact value (by an allowed step)
  std::string message;  // one line for people
};

// Judges the contents of params.attention_out (and softmax_lse when asked for) against `reference` by the
// per-element bounds of README, "The contract". A NaN on one side only fails. Reads the outputs through their
// strides. Thread safe. Never fails.
Comparison CompareWithReference(const AttentionParams& params, const ReferenceResult& reference) noexcept;

}  // namespace fia

#endif  // FIA_REFERENCE_H_
