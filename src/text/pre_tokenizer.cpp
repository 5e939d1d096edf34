#include "text/pre_tokenizer.h"

#include <algorithm>

#include "text/unicode.h"

namespace eigenscope {
namespace {

using namespace unicode;

bool is_line_space(char32_t c) { return c == '\t' || c == '\n' || c == '\r' || is_space(c); }

bool is_bert_punctuation(char32_t c) {
  const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                     (c >= 123 && c <= 126);
  return ascii || is_punctuation(c);
}

std::u32string cleaned(std::u32string_view text) {
  std::u32string out;
  for (const char32_t c : text) {
    if (is_line_space(c)) {
      out += U' ';
    } else if (c != 0xfffd && !is_control(c)) {
      out += c;
    }
  }
  return out;
}

std::u32string with_chinese_apart(std::u32string_view text) {
  std::u32string out;
  for (const char32_t c : text) {
    if (is_chinese(c)) {
      out += {U' ', c, U' '};
    } else {
      out += c;
    }
  }
  return out;
}

template <class Append>
std::u32string mapped(std::u32string_view text, Append append) {
  std::u32string out;
  for (const char32_t c : text) append(out, c);
  return out;
}

enum class Kind { space, letter, number, other };

Kind kind_of(char32_t c) {
  if (is_space(c)) return Kind::space;
  if (is_letter(c)) return Kind::letter;
  return is_number(c) ? Kind::number : Kind::other;
}

/// Length of 's, 't, 're, 've, 'm, 'll or 'd at the start of `text`, else 0.
std::size_t contraction(std::u32string_view text) {
  for (const std::u32string_view ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

/// Characters at the start of `text` that are all of the kind of the first; text is not empty.
std::size_t run_length(std::u32string_view text) {
  const Kind kind = kind_of(text.front());
  const auto end =
      std::find_if(text.begin(), text.end(), [&](char32_t c) { return kind_of(c) != kind; });
  return static_cast<std::size_t>(end - text.begin());
}

std::size_t piece_length(std::u32string_view text) {
  if (const std::size_t length = contraction(text)) return length;
  if (kind_of(text.front()) != Kind::space) return run_length(text);
  const std::size_t spaces = run_length(text);
  if (text.front() == U' ' && spaces == 1 && text.size() > 1) return 1 + run_length(text.substr(1));
  // The last space before a word belongs to the word (or, if it is no plain space, stands alone).
  return spaces < text.size() && spaces > 1 ? spaces - 1 : spaces;
}

}  // namespace

std::u32string BertNormalizer::operator()(std::u32string_view text) const {
  std::u32string out(text);
  if (clean_text) out = cleaned(out);
  if (chinese) out = with_chinese_apart(out);
  if (strip_accents) out = mapped(out, append_without_accents);
  if (lowercase) out = mapped(out, append_lower);
  return out;
}

std::vector<std::u32string_view> bert_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  std::size_t start = 0;
  const auto close = [&](std::size_t end) {
    if (end > start) words.push_back(text.substr(start, end - start));
    start = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) {
      close(i);
    } else if (is_bert_punctuation(text[i])) {
      close(i);
      words.push_back(text.substr(i, 1));
    }
  }
  close(text.size());
  return words;
}

std::vector<std::u32string_view> gpt2_pieces(std::u32string_view text) {
  std::vector<std::u32string_view> pieces;
  while (!text.empty()) {
    const std::size_t length = piece_length(text);
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return pieces;
}

}  // namespace eigenscope
