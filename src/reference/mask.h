// Which keys a row attends, and the bias its scores get.
#ifndef FIA_REFERENCE_MASK_H_
#define FIA_REFERENCE_MASK_H_

#include <cstdint>

#include "fia/attention.h"
#include "reference/shape.h"

namespace fia::reference {

// A mask whose contents are read: modes 0 and 1, and every mask of a decode call.
bool HasFullMask(const AttentionParams& params, const CallShape& shape) noexcept;

bool HasBias(const AttentionParams& params) noexcept;

// Keys [begin, end) of 0..S2-1 that the mode and its tokens leave to query position i.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
KeyRange KeysInBand(const AttentionParams& params, const CallShape& shape, std::int64_t sequence,
                    std::int64_t i) noexcept;

// The full mask's element for (qB + i, kB + j). Only with HasFullMask.
bool IsMasked(const AttentionParams& params, const CallShape& shape, std::int64_t sequence, std::int64_t i,
              std::int64_t j) noexcept;

// pseShift's element for (qB + i, kB + j). Only with HasBias.
double BiasOf(const AttentionParams& params, const CallShape& shape, std::int64_t sequence, std::int64_t head,
              std::int64_t i, std::int64_t j) noexcept;

}  // namespace fia::reference

#endif  // FIA_REFERENCE_MASK_H_
