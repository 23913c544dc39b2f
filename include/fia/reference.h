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

// A row's exact result and the correct ones. An element is correct when low <= element <= high; low and high
// are infinite where the output type may overflow. An element about which nothing is promised (the row
// attends a NaN or an infinity, or leaves the domain of the contract) has NaN in out, out_low and out_high,
// such an lse NaN in both of its fields: every value is correct there, NaN too.
struct ReferenceRow {
  RowIndex index;
  std::vector<double> out;       // [Dv] exact; int8 output: before rounding, scaled and offset
  std::vector<double> out_low;   // [Dv]
  std::vector<double> out_high;  // [Dv]
  double lse = 0;                // exact; +inf for an empty row
  double lse_tolerance = 0;      // largest |element - lse| that is correct
  bool empty = false;            // attends no key: out 0, lse +inf
};

// The answer, row by row.
struct ReferenceResult {
  std::int64_t value_dim = 0;  // Dv
  std::vector<ReferenceRow> rows;
  bool fill_only = false;  // empty tensors: all of attention_out is 0 and all of softmax_lse +inf; no rows
};

// Computes the exact answer of an accepted call from the data that `params` points at. `rows` chooses which
// rows; null means all rows of the output, padding rows included. Costs (D + Dv) steps for each key that a
// chosen row attends. Reads every tensor that the call reads; writes *result alone. Errors: those of
// GetWorkspaceSize; kNullPointer for a null result; kRuntimeError for a null address (rule "address"), a used
// block table entry out of range ("block_id") and a row outside the output ("rows"). Thread safe.
Status ComputeReference(const AttentionParams& params, const std::vector<RowIndex>* rows,
                        ReferenceResult* result) noexcept;

// How a result compares with the answer. Elements about which nothing is promised are not compared.
struct Comparison {
  bool passed = false;
  // Largest |got - exact| / allowed over the elements of out and lse; > 1 fails, inf for a NaN. int8 output:
  // 0 for the rounded exact value, 1 for another allowed integer.
  double worst_ratio = 0;
  RowIndex worst_row;           // where
  std::int64_t worst_dim = -1;  // element of the head (fill_only: of the output); -1: the lse
  double worst_got = 0, worst_exact = 0, worst_allowed = 0;
  std::int64_t compared = 0;   // elements compared
  std::int64_t differing = 0;  // int8 output: elements that are not the rounded exact value
  std::string message;         // one line for people
};

// Judges the contents of params.attention_out (and softmax_lse when asked for) against `reference`, which
// comes from a call of the same shapes, by the per-element bounds of README, "The contract". A NaN where
// a number is promised fails. Reads the outputs through their strides. Thread safe. Never fails: what cannot
// be compared (lengths for too few sequences, another shape, an output without address) has not passed.
Comparison CompareWithReference(const AttentionParams& params, const ReferenceResult& reference) noexcept;

}  // namespace fia

#endif  // FIA_REFERENCE_H_
