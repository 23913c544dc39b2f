// The judge: holds what a call has written against the reference's ranges.
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>

#include "fia/reference.h"
#include "reference/element.h"
#include "reference/shape.h"

namespace fia {
namespace reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kJustOutside = 1 + 0x1p-40;  // a ratio that rounding must not bring back to 1

// One element: what was written, what is exact, what is allowed.
struct Element {
  RowIndex row;
  std::int64_t dim = -1;
  double got = 0, exact = 0, low = 0, high = 0;
};

// |got - exact| over what is allowed on that side; above 1 exactly when got lies outside low..high.
double RatioOf(const Element& element, bool int8) noexcept {
  const bool inside = element.got >= element.low && element.got <= element.high;  // false for NaN
  if (int8) {
    if (inside) return 0;
    return 1 + std::fmax(element.low - element.got, element.got - element.high);
  }
  if (inside && (std::isinf(element.got) || element.got == element.exact)) return 0;
  const double distance = std::fabs(element.got - element.exact);
  const double allowed =
      element.got > element.exact ? element.high - element.exact : element.exact - element.low;
  const double ratio = distance / allowed;
  if (inside) return std::isnan(ratio) ? 0 : std::fmin(ratio, 1.0);
  return std::isnan(ratio) ? kInfinity : std::fmax(ratio, kJustOutside);
}

class Judge {
 public:
  explicit Judge(Comparison* result) : result_(*result) {}

  void Add(const Element& element, bool int8) {
    if (std::isnan(element.low)) return;  // nothing is promised
    ++result_.compared;
    double ratio = RatioOf(element, int8);
    if (int8 && element.got != std::fmin(std::fmax(std::nearbyint(element.exact), -128.0), 127.0)) {
      ++result_.differing;
      if (ratio == 0) ratio = 1;
    }
    if (ratio > 1) ++failing_;
    if (result_.compared > 1 && !(ratio > result_.worst_ratio)) return;
    result_.worst_ratio = ratio;
    result_.worst_row = element.row;
    result_.worst_dim = element.dim;
    result_.worst_got = element.got;
    result_.worst_exact = element.exact;
    result_.worst_allowed =
        element.got > element.exact ? element.high - element.exact : element.exact - element.low;
  }

  void Finish() {
    result_.passed = failing_ == 0;
    const RowIndex& row = result_.worst_row;
    char place[32] = "softmaxLse";
    if (result_.worst_dim >= 0)
      std::snprintf(place, sizeof place, "dim %lld", static_cast<long long>(result_.worst_dim));
    char text[512];
    std::snprintf(
        text, sizeof text,
        "%s: %lld of %lld elements outside the bounds; worst ratio %.4g at sequence %lld, head %lld, "
        "position %lld, %s: got %.9g, exact %.9g, allowed difference %.4g",
        result_.passed ? "passed" : "FAILED", static_cast<long long>(failing_),
        static_cast<long long>(result_.compared), result_.worst_ratio, static_cast<long long>(row.sequence),
        static_cast<long long>(row.head), static_cast<long long>(row.position), place, result_.worst_got,
        result_.worst_exact, result_.worst_allowed);
    result_.message = text;
    if (result_.differing > 0)
      result_.message += "; " + std::to_string(result_.differing) + " differ from the rounded exact value";
  }

 private:
  Comparison& result_;
  std::int64_t failing_ = 0;
};

void JudgeRow(const AttentionParams& params, const CallShape& shape, const ReferenceRow& row, Judge* judge) {
  const SequenceShape& own = shape.sequences[static_cast<std::size_t>(row.index.sequence)];
  const std::int64_t token = own.query_start + row.index.position;
  const std::int64_t b = row.index.sequence;
  const HeadRow out = RowOf(params.attention_out, shape.output, shape.value_dim, b, token, row.index.head);
  std::vector<double> got(row.out.size());
  ReadRow(out, shape.value_dim, got.data());
  const bool int8 = params.attention_out.dtype == DataType::kInt8;
  for (std::size_t d = 0; d < got.size(); ++d) {
    judge->Add({row.index, static_cast<std::int64_t>(d), got[d], row.out[d], row.out_low[d], row.out_high[d]},
               int8);
  }
  if (!params.softmax_lse) return;
  // (B,N,Q_S,1) or (T,N,1).
  const TensorView& lse = *params.softmax_lse;
  const std::int64_t position =
      shape.packed ? token * lse.strides[0] + row.index.head * lse.strides[1]
                   : b * lse.strides[0] + row.index.head * lse.strides[1] + token * lse.strides[2];
  judge->Add({row.index, -1, ReadElement(lse, position), row.lse, row.lse - row.lse_tolerance,
              row.lse + row.lse_tolerance},
             false);
}

// Every element of the output has to be `expected`.
void JudgeFilled(const TensorView& view, double expected, std::int64_t dim, Judge* judge) {
  const std::int64_t count = CountElements(view);
  for (std::int64_t number = 0; number < count; ++number) {
    const double got = ReadNumbered(view, 0, number);
    judge->Add({RowIndex(), dim < 0 ? dim : number, got, expected, expected, expected}, false);
  }
}

bool FitsShape(const CallShape& shape, const ReferenceResult& reference) noexcept {
  if (shape.value_dim != reference.value_dim) return false;
  const std::size_t dims = static_cast<std::size_t>(shape.value_dim);
  for (const ReferenceRow& row : reference.rows) {
    const RowIndex& index = row.index;
    if (index.sequence < 0 || index.sequence >= shape.batch || index.head < 0 || index.head >= shape.heads)
      return false;
    if (index.position < 0 || index.position >= shape.RowCount(index.sequence)) return false;
    if (row.out.size() != dims || row.out_low.size() != dims || row.out_high.size() != dims) return false;
  }
  return true;
}

void Compare(const AttentionParams& params, const ReferenceResult& reference, Comparison* result) {
  Judge judge(result);
  CallShape shape;
  if (reference.fill_only) {
    JudgeFilled(params.attention_out, 0, 0, &judge);
    if (params.softmax_lse) JudgeFilled(*params.softmax_lse, kInfinity, -1, &judge);
    return judge.Finish();
  }
  if (!ReadShape(params, &shape) || shape.fill_only || !FitsShape(shape, reference)) {
    result->message = "FAILED: the reference belongs to a call of another shape";
    return;
  }
  for (const ReferenceRow& row : reference.rows) JudgeRow(params, shape, row, &judge);
  judge.Finish();
}

}  // namespace
}  // namespace reference

Comparison CompareWithReference(const AttentionParams& params, const ReferenceResult& reference) noexcept {
  Comparison result;
  const bool no_out = params.attention_out.data == nullptr && reference::HasElements(params.attention_out);
  const bool no_lse = params.softmax_lse && params.softmax_lse->data == nullptr &&
                      reference::HasElements(*params.softmax_lse);
  try {
    if (no_out || no_lse) {
      result.message = "FAILED: an output has no address";
    } else {
      reference::Compare(params, reference, &result);
    }
  } catch (const std::exception&) {  // memory: nothing else throws
    result = Comparison();
    result.message = "out of memory";  // short enough to need none
  }
  return result;
}

}  // namespace fia
