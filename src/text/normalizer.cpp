#include "text/normalizer.h"

#include <algorithm>
#include <string>

#include "text/growth.h"
#include "text/matcher.h"
#include "text/unicode.h"

namespace eigenscope {
namespace {

using namespace unicode;

/// The most characters that a stage may make.
struct Limit {
  Stage stage;
  std::size_t most;

  void check(std::size_t size) const { check_growth(stage, size, most); }
};

template <class Append>
std::u32string mapped(std::u32string_view text, Append append) {
  std::u32string out;
  for (const char32_t c : text) append(out, c);
  return out;
}

void append_cleaned(std::u32string& out, char32_t c) {
  const bool is_line_space = c == '\t' || c == '\n' || c == '\r';
  if (!is_line_space && (c == 0xfffd || is_control(c))) return;
  out += is_line_space || is_space(c) ? U' ' : c;
}

void append_with_chinese_apart(std::u32string& out, char32_t c) {
  if (is_chinese(c)) {
    out += {U' ', c, U' '};
  } else {
    out += c;
  }
}

std::u32string apply(const BertNormalizer& rules, std::u32string text, const Limit&) {
  if (rules.clean_text) text = mapped(text, append_cleaned);
  if (rules.chinese) text = mapped(text, append_with_chinese_apart);
  if (rules.strip_accents) {
    text = normalized(text, NormalForm::nfd);
    std::erase_if(text, is_nonspacing_mark);
  }
  return rules.lowercase ? mapped(text, append_lower) : text;
}

std::u32string apply(const Lowercase&, std::u32string text, const Limit&) {
  return mapped(text, append_lower);
}

std::u32string apply(const StripAccents&, std::u32string text, const Limit&) {
  std::erase_if(text, is_mark);
  return text;
}

std::u32string apply(const Strip& rules, std::u32string text, const Limit&) {
  const auto goes = [&](char32_t c) { return rules.only_spaces ? c == U' ' : is_space(c); };
  if (rules.right) {
    const auto end = std::find_if_not(text.rbegin(), text.rend(), goes).base();
    text.erase(end, text.end());
  }
  if (rules.left) {
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), goes));
  }
  return text;
}

std::u32string apply(const Prepend& prefix, std::u32string text, const Limit& limit) {
  limit.check(prefix.text.size() + text.size());
  return text.empty() ? text : prefix.text + text;
}

std::u32string apply(const Replace& rule, std::u32string text, const Limit& limit) {
  Matcher matcher(rule.pattern, text.size());
  std::u32string out;
  std::size_t size = 0;
  for (std::u32string_view rest = text; !rest.empty(); rest.remove_prefix(size)) {
    size = matcher(rest);
    if (size == 0) {
      out += rest[size++];
      continue;
    }
    out += rule.content;
    limit.check(out.size());
  }
  return out;
}

std::u32string apply(NormalForm form, std::u32string text, const Limit&) {
  return normalized(text, form);
}

std::u32string apply(const CharacterMap& map, std::u32string text, const Limit& limit) {
  return map(text, [&](std::size_t size) { limit.check(size); });
}

}  // namespace

std::u32string normalize(const std::vector<Normalizer>& normalizers, std::u32string text) {
  Limit limit{{"normalizer", 0, normalizers.size()}, largest_growth(text.size())};
  for (const Normalizer& normalizer : normalizers) {
    ++limit.stage.number;
    text = std::visit([&](const auto& stage) { return apply(stage, std::move(text), limit); },
                      normalizer);
    limit.check(text.size());
  }
  return text;
}

}  // namespace eigenscope
