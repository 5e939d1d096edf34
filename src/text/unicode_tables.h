// The facts of Unicode that the tokenizers need, as sorted tables. They are generated, packed, and
// unpacked at the first use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace eigenscope::unicode {

/// Code points first to last, of one kind.
struct Run {
  char32_t first, last;
};

/// Code points first, first + step, ... last, whose lower-case forms lie `difference` away.
struct LowerRun {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t difference;
};

/// Code points first to last, with the rank of their canonical combining class among the classes
/// above 0, from 1.
struct CombiningRun {
  char32_t first, last;
  std::uint32_t rank;
};

/// A character and its full decomposition.
struct Decomposition {
  char32_t character;
  std::u32string parts;
};

/// A pair of characters and their primary composite.
struct Composition {
  char32_t first, second, composite;
};

std::span<const Run> letters();           ///< categories L*
std::span<const Run> capital_letters();   ///< categories Lu and Lt
std::span<const Run> small_letters();     ///< category Ll
std::span<const Run> numbers();           ///< categories N*
std::span<const Run> punctuation();       ///< categories P*
std::span<const Run> marks();             ///< categories M*
std::span<const Run> nonspacing_marks();  ///< category Mn
std::span<const Run> controls();          ///< categories Cc, Cf and Co
std::span<const LowerRun> lower();
std::span<const CombiningRun> combining_classes();
std::span<const Decomposition> canonical();   ///< NFD, except of Hangul syllables
std::span<const Decomposition> compatible();  ///< NFKD, where it differs from NFD
std::span<const Composition> compositions();  ///< by first, then second; except Hangul syllables

/// The entry of a sorted table that begins at or before `c`, or nullptr.
template <class Entry>
const Entry* entry_before(std::span<const Entry> table, char32_t c, char32_t Entry::*first) {
  if (c < table.front().*first) return nullptr;  // most characters of most texts
  const auto after =
      std::upper_bound(table.begin(), table.end(), c,
                       [&](char32_t value, const Entry& entry) { return value < entry.*first; });
  return &*(after - 1);
}

}  // namespace eigenscope::unicode
