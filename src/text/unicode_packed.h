// The tables of unicode_tables.h, packed: numbers in base64 digits of 5 bits, the lowest first (all digits but
// the last of a number have the highest bit), as differences from the row before. Generated.
#pragma once

#include <string_view>

namespace eigenscope::unicode {

// Runs: first character less the last one of the row before, length less 1, other columns (zigzag).
std::string_view packed_letters();
std::string_view packed_capital_letters();
std::string_view packed_small_letters();
std::string_view packed_numbers();
std::string_view packed_punctuation();
std::string_view packed_marks();
std::string_view packed_nonspacing_marks();
std::string_view packed_controls();
std::string_view packed_lower();
std::string_view packed_combining_classes();
std::string_view packed_excluded();

// Decompositions: character less that of the row before, number of parts, and each part less that at
// its place in the row before (zigzag; where that row is shorter, less 0).
std::string_view packed_canonical();
std::string_view packed_compatible();

}  // namespace eigenscope::unicode
