// Source of all random numbers: numbered streams of a seed that the user gives.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace eigenscope {

/// Standard normal numbers in single precision, the same to the last bit on every platform.
///
/// xoshiro128++ (Blackman and Vigna, 2021) in eight independent lanes, seeded by SplitMix64 from
/// (seed, stream), then Box-Muller with the polynomials of vector_math.h: the standard library's
/// distributions and libm differ between platforms, and plain loops over the lanes vectorise both
/// natively and in WASM. The uniforms have 24 bits, so |value| < 5.9.
class NormalStream {
 public:
  /// Streams with different (seed, stream) are independent for every practical purpose.
  NormalStream(std::uint64_t seed, std::uint64_t stream);

  /// Fills `out` with independent N(0, 1) numbers.
  void fill(std::span<float> out);

 private:
  static constexpr int kLanes = 8;
  using Lanes = std::array<std::uint32_t, kLanes>;

  Lanes next();
  void next_block(float* out);  // 2 * kLanes numbers

  std::array<Lanes, 4> state_;
};

/// 64 random bits of a counter: a draw that needs no state, so that the n-th one is the same whatever
/// was drawn before. SplitMix64, chained over the three numbers.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter);

/// A uniform number in [0, 1) with 53 bits, from random_bits.
inline double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, stream, counter) >> 11) * 0x1p-53;
}

/// A uniform integer in [0, count - 1], for a count of at least 1.
inline std::uint64_t random_below(std::uint64_t count, std::uint64_t seed, std::uint64_t stream,
                                  std::uint64_t counter) {
  const double at = random_unit(seed, stream, counter) * static_cast<double>(count);
  return std::min(count - 1, static_cast<std::uint64_t>(at));
}

/// Brings a range into a random order (Fisher-Yates), by the draws counter + 1 to counter + size - 1.
template <class Range>
void shuffle_range(Range&& values, std::uint64_t seed, std::uint64_t stream,
                   std::uint64_t counter = 0) {
  const auto first = values.begin();
  for (auto i = static_cast<std::uint64_t>(values.end() - first); i-- > 1;) {
    const std::uint64_t other = random_below(i + 1, seed, stream, counter + i);
    std::swap(first[static_cast<std::ptrdiff_t>(i)], first[static_cast<std::ptrdiff_t>(other)]);
  }
}

/// An index below `count`, uniform when `normal` is N(0, 1): a normal number through its distribution
/// function is uniform. `count` is at least 1 and far below 2^24, the fineness of the numbers. Bootstraps and drawn
/// tokens keep this draw, since another would change published intervals; new code calls random_below.
std::int64_t uniform_index(float normal, std::int64_t count);

}  // namespace eigenscope
