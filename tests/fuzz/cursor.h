// Decodes bytes into choices. Once the bytes are used up every choice is the first one.
#ifndef FIA_TESTS_FUZZ_CURSOR_H_
#define FIA_TESTS_FUZZ_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace fia::testing {

class Cursor {
 public:
  Cursor(const std::uint8_t* data, std::size_t size) noexcept : next_(data), end_(data + size) {}

  bool done() const noexcept { return next_ == end_; }

  std::uint8_t Byte() noexcept { return done() ? std::uint8_t{0} : *next_++; }

  // In 0..count-1, for count up to 65536; 0 for a count of 0.
  std::int64_t Below(std::int64_t count) noexcept {
    if (count <= 1) return 0;
    std::int64_t draw = Byte();
    if (count > 256) draw = draw * 256 + Byte();
    return draw % count;
  }

  // True for `share` of the 256 values of a byte.
  bool Chance(int share) noexcept { return Byte() >= 256 - share; }

  std::uint64_t Raw() noexcept {
    std::uint64_t bits = 0;
    for (int byte = 0; byte < 8; ++byte) bits = bits << 8 | Byte();
    return bits;
  }

  // Any integer, those that calls have and those at the edges of 32 and 64 bits more often.
  std::int64_t Number() noexcept {
    const std::uint8_t kind = Byte();
    if (kind < 96) return kind;
    if (kind < 104) return -(kind - 95);
    if (kind < 232) return NearPowerOfTwo((kind - 104) / 2, kind % 2 == 0);
    if (kind < 250) return kExtremes[(kind - 232) % std::size(kExtremes)];
    return static_cast<std::int64_t>(Raw());
  }

 private:
  static constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::min() + 1,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::max() - 1,
                                               -(std::int64_t{1} << 32),
                                               -2147483648,
                                               2147483647,
                                               4294967295,
                                               2048,
                                               20971520,
                                               20971521};

  // 2^power, or one less.
  static std::int64_t NearPowerOfTwo(int power, bool exact) noexcept {
    const std::uint64_t bits = (std::uint64_t{1} << power) - (exact ? 0 : 1);
    return static_cast<std::int64_t>(bits);
  }

  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_CURSOR_H_
