// The facts of Unicode that the tokenizers need, as sorted runs. The tables themselves are generated.
#pragma once

#include <cstdint>
#include <span>

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

/// A character and the one that its canonical decomposition leaves when marks are removed.
struct Base {
  char32_t character, base;
};

std::span<const Run> letters();      ///< categories L*
std::span<const Run> numbers();      ///< categories N*
std::span<const Run> punctuation();  ///< categories P*
std::span<const Run> marks();        ///< category Mn
std::span<const Run> controls();     ///< categories Cc, Cf and Co
std::span<const LowerRun> lower();
std::span<const Base> bases();

}  // namespace eigenscope::unicode
