// Matches of a pattern in a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/pattern.h"

namespace eigenscope {

/// Finds the matches of a pattern, which must outlive it, in one text.
class Matcher {
 public:
  /// `size` is the length of the text in characters.
  Matcher(const Pattern& pattern, std::size_t size);

  /// Characters of the match at the start of `rest`, a part of the text up to its end; 0 for no match. Throws
  /// FormatError with the expression where all matches together take more than 10,000 steps for a character of the
  /// text.
  std::size_t operator()(std::u32string_view rest);

 private:
  /// The step that is next if another one fails, at one of the places from `least` to `end` - 1, the last first.
  struct Choice {
    std::uint32_t step, least, end;
  };

  bool matches(std::size_t step, std::size_t& at);

  const Pattern& pattern_;
  std::u32string_view text_;
  std::vector<Choice> choices_;
  std::size_t most_choices_;
  std::uint64_t effort_;  // steps that are left
};

}  // namespace eigenscope
