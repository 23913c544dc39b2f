// Which keys of a tile its rows may attend, by the band alone; masks and biases take away more.
#ifndef FIA_KERNELS_BAND_H_
#define FIA_KERNELS_BAND_H_

#include "core/kernel_table.h"
#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

// Keys begin .. end - 1; empty when end <= begin.
struct KeyRange {
  std::int64_t begin;
  std::int64_t end;
};

FIA_INLINE KeyRange RowRange(const TileArgs& args, std::int64_t row) {
  const std::int64_t begin = args.attend_begin != nullptr ? args.attend_begin[row] : 0;
  const std::int64_t end = args.attend_end != nullptr ? args.attend_end[row] : args.keys;
  return {Larger(begin, 0), Smaller(end, args.keys)};
}

// The smallest range that holds those of `rows` rows from `first_row` on.
FIA_INLINE KeyRange RangeOfRows(const TileArgs& args, std::int64_t first_row, std::int64_t rows) {
  KeyRange all = {args.keys, 0};
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const KeyRange range = RowRange(args, row);
    if (range.begin >= range.end) continue;
    all = {Smaller(all.begin, range.begin), Larger(all.end, range.end)};
  }
  return all;
}

// Whether every row attends every key of `range`. If not, non-finite values have to be kept away from the
// rows that do not attend them.
FIA_INLINE bool AttendsAll(const TileArgs& args, KeyRange range) {
  if (args.mask_rows != nullptr || args.bias_rows != nullptr) return false;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const KeyRange own = RowRange(args, row);
    if (own.begin != range.begin || own.end != range.end) return false;
  }
  return true;
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_BAND_H_
