// Shapes of scales, written as patterns: one letter for each axis.
#ifndef FIA_CHECK_SCALE_SHAPE_H_
#define FIA_CHECK_SCALE_SHAPE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "fia/tensor.h"

namespace fia::check {

// Sizes that the letters stand for; '1' and '2' are themselves.
struct PatternSizes {
  std::int64_t batch;       // B
  std::int64_t heads;       // N: kv heads
  std::int64_t dim;         // D; H = heads * dim
  std::int64_t columns;     // S: at least that many tokens
  std::int64_t blocks;      // K
  std::int64_t block_size;  // P
};

bool Matches(const TensorView& view, std::string_view pattern, const PatternSizes& sizes) noexcept;

// The pattern with its sizes filled in: "(1,4,>=128)".
std::string Filled(std::string_view pattern, const PatternSizes& sizes);

}  // namespace fia::check

#endif  // FIA_CHECK_SCALE_SHAPE_H_
