// The facts of Unicode that the tokenizers need, as sorted tables. They are generated, packed, and
// unpacked at the first use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace eigenscope::unicode {

/// Code points first, first + step, ... last, of one kind or with one value.
struct Run {
  char32_t first, last;
  std::uint32_t step = 1;
  std::int32_t value = 0;
};

/// A character and its full decomposition.
struct Decomposition {
  char32_t character;
  std::u32string parts;
};

/// Primary composites by their two characters.
using Compositions = std::map<std::pair<char32_t, char32_t>, char32_t>;

enum class RunTable {
  categories,         ///< their values: places in kCategoryNames of unicode_packed.h
  han,                ///< script Han
  lower,              ///< their values: how far away the lower-case forms lie
  combining_classes,  ///< ranks of the canonical combining class among the classes above 0, from 1
};
std::span<const Run> runs_of(RunTable table);

std::span<const Decomposition> canonical();   ///< NFD, except of Hangul syllables
std::span<const Decomposition> compatible();  ///< NFKD, where it differs from NFD
const Compositions& compositions();           ///< except Hangul syllables

/// The entry of a sorted table that begins at or before `c`, or nullptr.
template <class Entry>
const Entry* entry_before(std::span<const Entry> table, char32_t c, char32_t Entry::*first) {
  if (c < table.front().*first) return nullptr;  // most characters of most texts
  const auto after =
      std::upper_bound(table.begin(), table.end(), c,
                       [&](char32_t value, const Entry& entry) { return value < entry.*first; });
  return &*(after - 1);
}

/// The run of a sorted table that has `c`, or nullptr.
inline const Run* run_of(std::span<const Run> table, char32_t c) {
  const Run* const run = entry_before(table, c, &Run::first);
  const bool is_in = run != nullptr && c <= run->last && (c - run->first) % run->step == 0;
  return is_in ? run : nullptr;
}

}  // namespace eigenscope::unicode
