// Lays arrays out one after another.
#ifndef FIA_PLAN_PLACER_H_
#define FIA_PLAN_PLACER_H_

#include <cstdint>
#include <new>

#include "core/sizes.h"

namespace fia {

// Every array begins at a multiple of 64 bytes. Sizes that no memory has throw std::bad_alloc.
class Placer {
 public:
  // Where an array of count * size bytes lies.
  std::int64_t Place(std::int64_t count, std::int64_t size) {
    constexpr std::int64_t kAlignment = 64;
    std::int64_t bytes = 0, end = 0;
    // Half the range of offsets leaves room for rounding up.
    if (!MultiplyChecked(count, size, &bytes) || !AddChecked(end_, bytes, &end) ||
        end > (std::int64_t{1} << 62)) {
      throw std::bad_alloc();
    }
    const std::int64_t begin = end_;
    end_ = RoundUp(end, kAlignment);
    return begin;
  }

  // Where an array of rows * row * size bytes lies.
  std::int64_t Place(std::int64_t rows, std::int64_t row, std::int64_t size) {
    std::int64_t row_bytes = 0;
    if (!MultiplyChecked(row, size, &row_bytes)) throw std::bad_alloc();
    return Place(rows, row_bytes);
  }

  std::int64_t end() const noexcept { return end_; }

 private:
  std::int64_t end_ = 0;
};

}  // namespace fia

#endif  // FIA_PLAN_PLACER_H_
