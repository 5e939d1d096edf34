#include "text/normalizer.h"

#include <algorithm>
#include <string>

#include "support/error.h"
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

/// The text after `change`; the leading characters, changed alone, stay aligned with the beginning.
template <class Change>
AlignedText changed(const AlignedText& text, Change change) {
  const std::size_t leading = change(text.text.substr(0, text.leading)).size();
  return {change(text.text), leading};
}

AlignedText apply(const BertNormalizer& rules, const AlignedText& text, const Limit&) {
  return changed(text, [&](std::u32string part) {
    if (rules.clean_text) part = mapped(part, append_cleaned);
    if (rules.chinese) part = mapped(part, append_with_chinese_apart);
    if (rules.strip_accents) {
      part = normalized(part, NormalForm::nfd);
      std::erase_if(part, is_nonspacing_mark);
    }
    return rules.lowercase ? mapped(part, append_lower) : part;
  });
}

AlignedText apply(const Lowercase&, const AlignedText& text, const Limit&) {
  return changed(text, [](const std::u32string& part) { return mapped(part, append_lower); });
}

AlignedText apply(const StripAccents&, const AlignedText& text, const Limit&) {
  return changed(text, [](std::u32string part) {
    std::erase_if(part, is_mark);
    return part;
  });
}

AlignedText apply(const Strip& rules, AlignedText aligned, const Limit&) {
  std::u32string& text = aligned.text;
  const auto goes = [&](char32_t c) { return rules.only_spaces ? c == U' ' : is_space(c); };
  if (rules.right) {
    const auto end = std::find_if_not(text.rbegin(), text.rend(), goes).base();
    text.erase(end, text.end());
  }
  if (rules.left) {
    const auto begin = std::find_if_not(text.begin(), text.end(), goes);
    const auto gone = static_cast<std::size_t>(begin - text.begin());
    aligned.leading = leading_in(aligned.leading, gone, text.size());
    text.erase(text.begin(), begin);
  }
  aligned.leading = std::min(aligned.leading, text.size());
  return aligned;
}

AlignedText apply(const Prepend& prefix, AlignedText text, const Limit& limit) {
  limit.check(prefix.text.size() + text.text.size());
  if (text.text.empty()) return text;
  const std::size_t leading = text.leading == 0 ? 0 : prefix.text.size() + text.leading;
  return {prefix.text + text.text, leading};
}

AlignedText apply(const Replace& rule, const AlignedText& text, const Limit& limit) {
  Matcher matcher(rule.pattern, text.text.size());
  AlignedText out;
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.text.size(); at += size) {
    const std::u32string_view rest = std::u32string_view(text.text).substr(at);
    size = matcher(rest);
    if (size == 0) {
      out.text += rest[size++];
    } else {
      out.text += rule.content;
    }
    // The replacement is aligned with the last character of its match.
    if (at + size <= text.leading) out.leading = out.text.size();
    limit.check(out.text.size());
  }
  return out;
}

AlignedText apply(NormalForm form, const AlignedText& text, const Limit&) {
  return changed(text, [&](const std::u32string& part) { return normalized(part, form); });
}

AlignedText apply(const CharacterMap& map, const AlignedText& text, const Limit& limit) {
  return map(text, [&](std::size_t size) { limit.check(size); });
}

constexpr std::size_t kLongestSequence = 1000;  // bytes of a sequence
constexpr std::size_t kBytes = 4;               // the most of a character

[[noreturn]] void refuse(const std::string& must, const std::string& actual = "") {
  throw InvalidArgument("it", must, actual);
}

std::uint32_t unit_at(std::string_view bytes, std::size_t at) {
  std::uint32_t unit = 0;
  for (std::size_t k = 4; k-- > 0;) unit = unit << 8 | static_cast<unsigned char>(bytes[at + k]);
  return unit;
}

// Units of darts-clone.
bool has_value(std::uint32_t unit) { return (unit >> 8 & 1u) == 1; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7fffffffu; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000ffu; }
std::uint32_t offset(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200u) >> 6); }

}  // namespace

AlignedText normalize(const std::vector<Normalizer>& normalizers, std::u32string text) {
  Limit limit{{"normalizer", 0, normalizers.size()}, largest_growth(text.size())};
  AlignedText aligned{std::move(text), 1};
  aligned.leading = std::min(aligned.leading, aligned.text.size());
  for (const Normalizer& normalizer : normalizers) {
    ++limit.stage.number;
    aligned = std::visit([&](const auto& stage) { return apply(stage, std::move(aligned), limit); },
                         normalizer);
    limit.check(aligned.text.size());
  }
  return aligned;
}

CharacterMap::CharacterMap(std::string_view bytes) {
  if (bytes.size() < 4) refuse("have at least 4 bytes");
  const std::size_t size = unit_at(bytes, 0);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4) {
    refuse("begin with the bytes of its trie, a positive multiple of 4 up to the " +
               std::to_string(bytes.size() - 4) + " that follow",
           "found " + std::to_string(size));
  }
  auto table = std::make_shared<Table>();
  for (std::size_t at = 4; at < 4 + size; at += 4) table->units.push_back(unit_at(bytes, at));
  table->texts = bytes.substr(4 + size);
  table_ = std::move(table);
}

CharacterMap::Match CharacterMap::longest(std::string_view bytes) const {
  const auto& units = table_->units;
  Match match;
  std::size_t node = offset(units[0]);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const auto byte = static_cast<unsigned char>(bytes[k]);
    node ^= byte;
    // A trie with a cycle would match for as long as the text is.
    if (k == kLongestSequence) {
      throw FormatError("precompiled_charsmap", "it must have sequences of at most " +
                                                    std::to_string(kLongestSequence) +
                                                    " bytes: found a longer one");
    }
    if (byte == 0 || node >= units.size() || label(units[node]) != byte) break;
    const std::uint32_t unit = units[node];
    node ^= offset(unit);
    if (has_value(unit) && node < units.size()) match = {k + 1, value(units[node])};
  }
  return match;
}

AlignedText CharacterMap::operator()(const AlignedText& text,
                                     const std::function<void(std::size_t)>& check_size) const {
  const std::string bytes = unicode::encode(text.text);
  std::string out;
  // By character of `out`: 0 where it replaces one character, 1 where it is added, -n where it replaces n + 1.
  std::vector<std::ptrdiff_t> changes;
  for (std::size_t at = 0; at < bytes.size();) {
    const Match match = longest(std::string_view(bytes).substr(at));
    if (match.length == 0) {
      const auto is_next = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
      const auto end =
          std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 1, bytes.end(), is_next);
      const auto length = static_cast<std::size_t>(end - bytes.begin()) - at;
      out += bytes.substr(at, length);
      changes.push_back(0);
      at += length;
      continue;
    }
    const std::string_view replaced = std::string_view(bytes).substr(at, match.length);
    const char* const text_of_match =
        match.place < table_->texts.size() ? table_->texts.c_str() + match.place : "";
    out += text_of_match;
    // Removed characters belong to the one before, as in `replace` of Hugging Face's normalizer Precompiled.
    const auto count = std::ssize(unicode::decode(text_of_match));
    const auto replaced_count = std::ssize(unicode::decode(replaced));
    for (std::ptrdiff_t k = 0; k < count; ++k) changes.push_back(k < replaced_count ? 0 : 1);
    if (count < replaced_count && !changes.empty()) changes.back() -= replaced_count - count;
    at += match.length;
    check_size(out.size() / kBytes);
  }
  std::size_t leading = 0;
  std::ptrdiff_t passed = 0;
  for (const std::ptrdiff_t change : changes) {
    const std::ptrdiff_t aligned_with = change > 0 ? passed - 1 : passed;
    if (aligned_with >= static_cast<std::ptrdiff_t>(text.leading)) break;
    ++leading;
    if (change <= 0) passed += 1 - change;
  }
  return {unicode::decode(out), leading};
}

}  // namespace eigenscope
