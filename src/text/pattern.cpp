#include "text/pattern.h"

#include <algorithm>

#include "text/unicode.h"

namespace eigenscope {
namespace {

using namespace unicode;
using View = std::u32string_view;

enum class Kind { space, letter, number, other };

Kind kind_of(char32_t c) {
  if (is_space(c)) return Kind::space;
  if (is_letter(c)) return Kind::letter;
  return is_number(c) ? Kind::number : Kind::other;
}

/// Marks count as letters.
Kind kind_with_marks(char32_t c) { return is_mark(c) ? Kind::letter : kind_of(c); }

bool is_line_end(char32_t c) { return c == '\r' || c == '\n'; }

/// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
bool is_upper_part(char32_t c) { return is_mark(c) || (is_letter(c) && !is_small(c)); }

/// [\p{Ll}\p{Lm}\p{Lo}\p{M}]
bool is_lower_part(char32_t c) { return is_mark(c) || (is_letter(c) && !is_capital(c)); }

template <class Holds>
std::size_t run_length(View text, Holds holds) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), holds) - text.begin());
}

using KindOf = Kind (*)(char32_t);

std::size_t run_length(View text, Kind kind, KindOf of = kind_of) {
  return run_length(text, [&](char32_t c) { return of(c) == kind; });
}

bool same_letter(char32_t a, char32_t b) {
  return a == b || (a >= 'A' && a <= 'Z' && a + ('a' - 'A') == b);
}

/// 's|'t|'re|'ve|'m|'ll|'d
std::size_t contraction(View text, bool any_case) {
  for (const View ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
    const View start = text.substr(0, ending.size());
    const bool equal =
        any_case ? std::equal(start.begin(), start.end(), ending.begin(), ending.end(), same_letter)
                 : start == ending;
    if (equal) return ending.size();
  }
  return 0;
}

/// ` ?[^\s\p{L}\p{N}]+`, and ` ?\p{L}+` or ` ?\p{N}+` for these kinds
std::size_t spaced_run(View text, Kind kind, KindOf of = kind_of) {
  const std::size_t space = text.front() == U' ' ? 1 : 0;
  const std::size_t length = run_length(text.substr(space), kind, of);
  return length == 0 ? 0 : space + length;
}

/// `\s+(?!\S)|\s+`: the last space before a character that is none is left to what follows.
std::size_t spaces(View text) {
  const std::size_t length = run_length(text, Kind::space);
  return length > 1 && length < text.size() ? length - 1 : length;
}

/// `\s*[\r\n]+`
std::size_t line_ends(View text) {
  const View blank = text.substr(0, run_length(text, Kind::space));
  const std::size_t last = blank.find_last_of(U"\r\n");
  return last == View::npos ? 0 : last + 1;
}

std::size_t match_gpt2(View text) {
  if (const std::size_t length = contraction(text, false)) return length;
  for (const Kind kind : {Kind::letter, Kind::number, Kind::other}) {
    if (const std::size_t length = spaced_run(text, kind)) return length;
  }
  return spaces(text);
}

/// [^\r\n\p{L}\p{N}]
bool is_prefix(char32_t c) {
  const Kind kind = kind_of(c);
  return !is_line_end(c) && kind != Kind::letter && kind != Kind::number;
}

/// The part after words that the patterns after GPT-2 share: `numbers` in a row, then other characters
/// with the characters of `endings` behind them, line ends and white space.
std::size_t match_rest(View text, std::size_t numbers, View endings, KindOf of = kind_of) {
  if (kind_of(text.front()) == Kind::number) {
    return std::min(numbers, run_length(text, Kind::number));
  }
  if (const std::size_t length = spaced_run(text, Kind::other, of)) {
    return length + run_length(text.substr(length),
                               [&](char32_t c) { return endings.find(c) != View::npos; });
  }
  if (const std::size_t length = line_ends(text)) return length;
  return spaces(text);
}

std::size_t match_llama3(View text, std::size_t numbers, KindOf of = kind_of) {
  if (const std::size_t length = contraction(text, true)) return length;
  for (std::size_t prefix = is_prefix(text.front()) ? 2 : 1; prefix-- > 0;) {
    if (const std::size_t length = run_length(text.substr(prefix), Kind::letter, of)) {
      return prefix + length;
    }
  }
  return match_rest(text, numbers, U"\r\n", of);
}

/// `[Lu Lt Lm Lo M]*[Ll Lm Lo M]+`: the last letter of the first set may be the first of the second.
std::size_t lower_word(View text) {
  for (std::size_t start = run_length(text, is_upper_part) + 1; start-- > 0;) {
    if (const std::size_t length = run_length(text.substr(start), is_lower_part)) {
      return start + length;
    }
  }
  return 0;
}

/// `[Lu Lt Lm Lo M]+[Ll Lm Lo M]*`
std::size_t upper_word(View text) {
  const std::size_t length = run_length(text, is_upper_part);
  return length == 0 ? 0 : length + run_length(text.substr(length), is_lower_part);
}

std::size_t match_gpt4o(View text, std::size_t numbers, bool contractions) {
  for (const auto word : {lower_word, upper_word}) {
    for (std::size_t prefix = is_prefix(text.front()) ? 2 : 1; prefix-- > 0;) {
      if (const std::size_t length = word(text.substr(prefix))) {
        const std::size_t end = prefix + length;
        return end + (contractions ? contraction(text.substr(end), true) : 0);
      }
    }
  }
  return match_rest(text, numbers, U"\r\n/");
}

std::size_t match_clip(View text) {
  if (const std::size_t length = contraction(text, false)) return length;
  switch (const Kind kind = kind_of(text.front())) {
    case Kind::space:
      return 0;
    case Kind::number:
      return 1;
    default:
      return run_length(text, kind);
  }
}

}  // namespace

std::size_t match_length(Pattern pattern, View text) {
  switch (pattern) {
    case Pattern::gpt2:
      return match_gpt2(text);
    case Pattern::llama3:
      return match_llama3(text, 3);
    case Pattern::qwen2:
      return match_llama3(text, 1);
    case Pattern::qwen35:
      return match_llama3(text, 1, kind_with_marks);
    case Pattern::gpt4o:
      return match_gpt4o(text, 3, true);
    case Pattern::tekken:
      return match_gpt4o(text, 1, false);
    case Pattern::clip:
      return match_clip(text);
    case Pattern::lines:
      return run_length(text, [&](char32_t c) { return (c == '\n') == (text.front() == '\n'); });
  }
  return 0;
}

}  // namespace eigenscope
