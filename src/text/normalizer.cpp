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

constexpr std::size_t kLongestSequence = 1000;  // bytes of a sequence
constexpr std::size_t kBytes = 4;               // the most of a character

[[noreturn]] void refuse(const std::string& must, const std::string& found = "") {
  throw InvalidArgument("it", must, found);
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

std::u32string CharacterMap::operator()(std::u32string_view text,
                                        const std::function<void(std::size_t)>& check_size) const {
  const std::string bytes = unicode::encode(text);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const Match match = longest(std::string_view(bytes).substr(at));
    if (match.length == 0) {
      const auto is_next = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
      const auto end =
          std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 1, bytes.end(), is_next);
      const auto length = static_cast<std::size_t>(end - bytes.begin()) - at;
      out += bytes.substr(at, length);
      at += length;
      continue;
    }
    if (match.place < table_->texts.size()) out += table_->texts.c_str() + match.place;
    at += match.length;
    check_size(out.size() / kBytes);
  }
  return unicode::decode(out);
}

}  // namespace eigenscope
