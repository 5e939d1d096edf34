// Test for NaN and infinity, at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "support/bits.h"

namespace eigenscope {

/// True if none of `values`, contiguous floats or doubles, is NaN or infinite. The loop has no branch and no
/// comparison, so that every compiler vectorizes it.
template <class Values>
bool all_finite(const Values& values) {
  using Scalar = std::remove_cvref_t<decltype(*values.data())>;
  using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
  const auto exponent = bits_as<Bits>(std::numeric_limits<Scalar>::infinity());
  // An exponent of ones, and no other, carries into the sign's place.
  const Bits lowest = exponent & (~exponent + 1);
  Bits carried = 0;
  const std::span all(values.data(), static_cast<std::size_t>(values.size()));
  for (const Scalar value : all) carried |= (bits_as<Bits>(value) & exponent) + lowest;
  return carried >> (8 * sizeof(Bits) - 1) == 0;
}

}  // namespace eigenscope
