// Seeded random numbers that are the same on every machine: xoshiro256**, its state filled by splitmix64
// (Blackman and Vigna).
#ifndef FIA_TESTS_SUPPORT_RNG_H_
#define FIA_TESTS_SUPPORT_RNG_H_

#include <cmath>
#include <cstdint>

namespace fia::testing {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t Bits() noexcept {
    const std::uint64_t result = Rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }

  // In [0, 1).
  double Unit() noexcept { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

  // In [low, high).
  double Uniform(double low, double high) noexcept { return low + (high - low) * Unit(); }

  // In low..high, both included.
  std::int64_t Between(std::int64_t low, std::int64_t high) noexcept {
    const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t draw = count == 0 ? Bits() : Bits() % count;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw);
  }

  // True with the given probability.
  bool Chance(double probability) noexcept { return Unit() < probability; }

  // Mean 0, variance 1.
  double Normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Unit()));
    return radius * std::cos(6.283185307179586 * Unit());
  }

 private:
  static std::uint64_t Rotate(std::uint64_t value, int by) noexcept {
    return (value << by) | (value >> (64 - by));
  }

  std::uint64_t state_[4];
};

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_RNG_H_
