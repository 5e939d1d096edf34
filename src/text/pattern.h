// The regular expressions of tokenizers: each is compiled to a short program, which is matched by backtracking.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode.h"

namespace eigenscope {

/// The pattern at whose matches GPT-2 cuts a text.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// Lines apart from what ends them.
inline constexpr std::string_view kLinesPattern = R"([^\n]+|[\n]+)";

/// Characters of runs and categories, or all others.
class CharacterSet {
 public:
  void add(unicode::Run run);
  void add(unicode::Categories categories);
  /// Adds the ASCII letters whose other case is in the set.
  void add_other_cases();
  void invert();

  bool has(char32_t c) const { return c < kAscii ? ascii_[c] : has_beyond_ascii(c); }

 private:
  static constexpr std::size_t kAscii = 128;
  bool has_beyond_ascii(char32_t c) const;

  std::bitset<kAscii> ascii_;
  std::vector<unicode::Run> runs_;  // those beyond ASCII
  unicode::Categories categories_ = 0;
  bool is_inverted_ = false;
};

/// A regular expression: characters; classes with ranges, ^ and escapes; `.`; \r \n \t \v \f \s \S \d \D, \p{..} and
/// \P{..} with a category of unicode::categories_named, \p{Han}; groups ( ), (?: ) and (?i: ), the latter for ASCII
/// letters alone; lookahead (?= ) and (?! ); `$` for the end of the text or of a line; | ; ? * + {m} {m,} {m,n}, all
/// greedy; ?+ *+ ++ of a character or class. Alternatives match in their order, as in Oniguruma and Python.
class Pattern {
 public:
  /// Throws InvalidArgument ("pattern") naming the part of the expression that is not supported, for one that matches
  /// the empty text, and for one of more than 4000 characters, 10,000 steps or 20 groups in each other.
  explicit Pattern(std::string_view expression);
  /// A pattern that matches this text alone, which is not empty.
  static Pattern literal(std::u32string_view text);

 private:
  friend class PatternCompiler;
  friend class Matcher;

  enum class Action {
    characters,  ///< `least` to `most` of the set, as many as possible
    choose,      ///< goes on with the next step, or `jump` steps further
    jump,        ///< goes on `jump` steps further
    ahead,       ///< goes on `jump` steps further if the steps up to `done` match what follows
    not_ahead,   ///< if they do not
    line_end,
    done,
  };
  struct Step {
    Action action;
    std::int32_t jump = 0;
    std::uint32_t least = 1, most = 1;
    bool is_possessive = false;
    CharacterSet set{};
  };

  Pattern() = default;

  std::string expression_;  ///< for messages
  std::vector<Step> steps_;
};

}  // namespace eigenscope
