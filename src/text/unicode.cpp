#include "text/unicode.h"

#include <array>

#include "support/error.h"
#include "text/unicode_packed.h"
#include "text/unicode_tables.h"

namespace eigenscope::unicode {
namespace {

using packed::kCategoryNames;
constexpr std::size_t kUnassigned = kCategoryNames.size();

constexpr Categories bit(std::size_t category) { return Categories{1} << category; }

/// The place of the last category with a name.
constexpr std::size_t place_of(std::string_view name) {
  std::size_t place = kCategoryNames.size();
  while (kCategoryNames[--place] != name) {
  }
  return place;
}

constexpr Categories named(std::string_view name) {
  Categories categories = std::string_view("Cn").starts_with(name) ? bit(kUnassigned) : 0;
  for (std::size_t k = 0; k < kCategoryNames.size(); ++k) {
    if (kCategoryNames[k].starts_with(name)) categories |= bit(k);
  }
  return categories;
}

constexpr Categories kWhiteSpace = named("Z") | bit(place_of("Cc"));

Categories looked_up(char32_t c) {
  const Run* const run = run_of(runs_of(RunTable::categories), c);
  if (run == nullptr) return bit(kUnassigned);
  const auto place = static_cast<std::size_t>(run->value);
  if (place != place_of("LuLl")) return bit(place);
  return bit(place_of((c - run->first) % 2 == 0 ? "Lu" : "Ll"));
}

bool is_of(Categories categories, char32_t c) { return (category_of(c) & categories) != 0; }

[[noreturn]] void refuse(std::size_t position) {
  throw InvalidArgument("text", "be UTF-8", "byte " + std::to_string(position + 1) + " is not");
}

/// How many bytes a character takes by its first one; 0 for a byte that begins none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;  // a continuation, or an overlong form
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

}  // namespace

std::u32string decode(std::string_view text) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  std::u32string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || length > text.size() - at) refuse(at);
    char32_t c = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[at + k]);
      if ((byte & 0xc0u) != 0x80u) refuse(at);
      c = c << 6 | (byte & 0x3fu);
    }
    if (c < kSmallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) refuse(at);
    decoded += c;
    at += length;
  }
  return decoded;
}

void append(std::string& bytes, char32_t c) {
  const auto put = [&](char32_t value) { bytes += static_cast<char>(value); };
  if (c < 0x80) {
    put(c);
    return;
  }
  const int continuations = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  const char32_t lead = continuations == 1 ? 0xc0 : continuations == 2 ? 0xe0 : 0xf0;
  put(lead | c >> (6 * continuations));
  for (int k = continuations - 1; k >= 0; --k) put(0x80u | (c >> (6 * k) & 0x3fu));
}

std::string encode(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) append(bytes, c);
  return bytes;
}

Categories category_of(char32_t c) {
  static const auto kAscii = [] {
    std::array<Categories, 128> categories{};
    for (char32_t ascii = 0; ascii < categories.size(); ++ascii)
      categories[ascii] = looked_up(ascii);
    return categories;
  }();
  return c < kAscii.size() ? kAscii[c] : looked_up(c);
}

Categories categories_named(std::string_view name) {
  return name.empty() || name.size() > 2 ? 0 : named(name);
}
Categories white_space() { return kWhiteSpace; }

bool is_number(char32_t c) { return is_of(named("N"), c); }
bool is_punctuation(char32_t c) { return is_of(named("P"), c); }
bool is_mark(char32_t c) { return is_of(named("M"), c); }
bool is_nonspacing_mark(char32_t c) { return is_of(named("Mn"), c); }
bool is_control(char32_t c) { return is_of(named("Cc") | named("Cf") | named("Co"), c); }
bool is_space(char32_t c) { return is_of(kWhiteSpace, c); }

bool is_chinese(char32_t c) {
  static constexpr Run kBlocks[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                    {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                    {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return run_of(kBlocks, c) != nullptr;
}

void append_lower(std::u32string& text, char32_t c) {
  if (c == 0x130) {
    text += U"i\u0307";
    return;
  }
  const Run* const run = run_of(runs_of(RunTable::lower), c);
  text += run == nullptr ? c : c + static_cast<char32_t>(run->value);
}

}  // namespace eigenscope::unicode
