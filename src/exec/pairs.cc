#include "exec/pairs.h"

#include <algorithm>

namespace fia {
namespace {

void SetBand(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept {
  const std::int64_t low = run.sequence->band_low - first;
  const std::int64_t high = run.sequence->band_high + 1 - first;
  args->attend_begin = nullptr;
  args->attend_end = nullptr;
  if (run.item.last_query + low <= 0 && run.item.first_query + high >= args->keys) return;
  auto* begin = run.Array<std::int32_t>(run.layout().attend_begin);
  auto* end = run.Array<std::int32_t>(run.layout().attend_end);
  const std::int64_t keys = args->keys;
  VisitRows(run, [=](std::int64_t row, std::int64_t query, std::int64_t) {
    const std::int64_t row_begin = std::clamp<std::int64_t>(query + low, 0, keys);
    begin[row] = static_cast<std::int32_t>(row_begin);
    end[row] = static_cast<std::int32_t>(std::clamp(query + high, row_begin, keys));
  });
  args->attend_begin = begin;
  args->attend_end = end;
}

// Pointers to the elements of the tile's first key, one for each row.
template <class Element>
const Element* const* PointAtRows(const ItemRun& run, const PairTensor& pairs, std::int64_t sequence_offset,
                                  std::int64_t first, std::int64_t array) noexcept {
  if (!pairs.present()) return nullptr;
  auto* rows = run.Array<const Element*>(array);
  const std::byte* base =
      run.context->Input(pairs.slot, sequence_offset + run.starts.query * pairs.row_stride +
                                         (run.starts.key + first) * pairs.key_stride);
  VisitRows(run, [&](std::int64_t row, std::int64_t query, std::int64_t head) {
    rows[row] = reinterpret_cast<const Element*>(base + query * pairs.row_stride + head * pairs.head_stride);
  });
  return rows;
}

}  // namespace

void PointAtPairs(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept {
  const Problem& problem = run.problem();
  SetBand(run, first, args);
  args->mask_rows =
      PointAtRows<std::uint8_t>(run, problem.mask, run.sequence->mask_offset, first, run.layout().mask_rows);
  args->mask_key_stride = problem.mask.key_stride;
  // The array holds untyped pointers: the kernels read the elements by bias_type.
  args->bias_rows =
      PointAtRows<void>(run, problem.bias, run.sequence->bias_offset, first, run.layout().bias_rows);
  args->bias_type = problem.bias.dtype;
  args->bias_key_stride = problem.bias.key_stride;
}

}  // namespace fia
