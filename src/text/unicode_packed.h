// The tables of unicode_tables.h, packed: numbers of 7 bits a byte, the lowest first (all bytes but the
// last of a number have the highest bit), as differences from the row before. Generated.
#pragma once

#include <cstdint>
#include <span>

namespace eigenscope::unicode {

// Runs: first character less the last one of the row before, length less 1, other columns (zigzag).
std::span<const std::uint8_t> packed_letters();
std::span<const std::uint8_t> packed_capital_letters();
std::span<const std::uint8_t> packed_small_letters();
std::span<const std::uint8_t> packed_numbers();
std::span<const std::uint8_t> packed_punctuation();
std::span<const std::uint8_t> packed_marks();
std::span<const std::uint8_t> packed_nonspacing_marks();
std::span<const std::uint8_t> packed_controls();
std::span<const std::uint8_t> packed_lower();
std::span<const std::uint8_t> packed_combining_classes();
std::span<const std::uint8_t> packed_excluded();

// Decompositions: character less that of the row before, number of parts, and each part less that at
// its place in the row before (zigzag; where that row is shorter, less 0).
std::span<const std::uint8_t> packed_canonical();
std::span<const std::uint8_t> packed_compatible();

}  // namespace eigenscope::unicode
