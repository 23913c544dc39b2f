// The body for few rows (decode, multi-token prediction): bound by reading keys and values once. Scores of
// the whole tile, softmax, weighted values; nothing of K and V is copied.
#ifndef FIA_KERNELS_FEW_ROWS_H_
#define FIA_KERNELS_FEW_ROWS_H_

#include "kernels/scratch.h"
#include "kernels/weighted.h"

namespace fia::FIA_ISA_NAMESPACE {

// More rows than this are a job for the other body.
constexpr std::int64_t kMaxFewRows = 16;

// Adds the rope part of q . k to the scores.
void AddRopeDots(const TileArgs& args, DotArgs dots);

// acc = acc * correction + sums * factor.
void AddSums(const TileArgs& args, const RowStep* steps, bool first, const float* sums,
             std::int64_t sum_stride);

// Scores of keys `range`. Chains of kDotChain dims at a time.
template <class Element>
void ScoreFewRows(const TileArgs& args, KeyRange range, float* scores) {
  const TileShape& shape = args.shape;
  const QueryLayout query = LayoutOfQuery(Body::kFewRows, shape);
  DotArgs dots;
  dots.keys = StreamOf(args.key_rows, range, RowBytes<Element>(shape.head_dim));
  if (args.weights != Weights::kMaxOnly) {
    dots.keys.next = args.value_rows;
    dots.keys.next_range = range;
  }
  dots.rows = args.rows;
  dots.query = static_cast<const float*>(args.packed_query);
  dots.query_stride = query.stride;
  dots.scores = scores;
  dots.score_stride = ScoreStride(shape);
  for (std::int64_t dim = 0; dim < shape.head_dim; dim += kDotChain) {
    dots.first_dim = dim;
    dots.dims = Smaller(kDotChain, shape.head_dim - dim);
    Dots<Element>(dots);
    dots.add = true;
  }
  if (args.rope_rows == nullptr) return;
  dots.query += query.rope;
  AddRopeDots(args, dots);
}

// acc of all rows from their weights, kValueChain keys at a time.
template <class Element, bool kClean>
void WeighFewRows(const TileArgs& args, KeyRange range, const float* weights, const RowStep* steps,
                  float* sums) {
  WeightedArgs weighted;
  weighted.values = StreamOf(args.value_rows, range, RowBytes<Element>(args.shape.value_dim));
  weighted.values.next = args.next_key_rows;
  weighted.values.next_range = {0, args.next_keys};
  weighted.dims = args.shape.value_dim;
  weighted.rows = args.rows;
  weighted.weights = weights;
  weighted.weight_stride = ScoreStride(args.shape);
  weighted.sums = sums;
  weighted.sum_stride = Padded(args.shape.value_dim);
  bool non_finite = false;
  for (std::int64_t key = range.begin; key < range.end;) {
    const std::int64_t end = Smaller(range.end, (key / kValueChain + 1) * kValueChain);
    non_finite |= Weighted<Element, kClean>(weighted, {key, end});
    AddSums(args, steps, key == range.begin, sums, weighted.sum_stride);
    key = end;
  }
  if constexpr (kClean) {
    if (non_finite)
      AddNonFinite<Element>(args, {0, args.rows, range, weights, weighted.weight_stride, steps});
  }
}

template <class Element>
void TileFewRows(const TileArgs& args) {
  const KeyRange range = RangeOfRows(args, 0, args.rows);
  if (range.begin >= range.end || args.rows > kMaxFewRows) return;
  const FewRowsScratch place = PlaceFewRows(args.shape);
  float* scratch = static_cast<float*>(args.scratch);
  float* scores = scratch + place.scores;
  ScoreFewRows<Element>(args, range, scores);
  RowStep steps[kMaxFewRows];
  const KeyRange softmax_range = {range.begin / kWidth * kWidth, range.end};
  for (std::int64_t row = 0; row < args.rows; ++row) {
    steps[row] =
        SoftmaxRow(args, row, softmax_range, scores + row * ScoreStride(args.shape), scratch + place.extra);
  }
  if (args.weights == Weights::kMaxOnly) return;
  if (!Element::kMayBeNonFinite || AttendsAll(args, range)) {
    WeighFewRows<Element, false>(args, range, scores, steps, scratch + place.sums);
  } else {
    WeighFewRows<Element, Element::kMayBeNonFinite>(args, range, scores, steps, scratch + place.sums);
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_FEW_ROWS_H_
