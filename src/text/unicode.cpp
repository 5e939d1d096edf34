#include "text/unicode.h"

#include <algorithm>

#include "support/error.h"
#include "text/unicode_tables.h"

namespace eigenscope::unicode {
namespace {

bool lies_in(RunTable table, char32_t c) { return run_of(runs_of(table), c) != nullptr; }

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

bool is_letter(char32_t c) { return lies_in(RunTable::letters, c); }
bool is_number(char32_t c) { return lies_in(RunTable::numbers, c); }
bool is_capital(char32_t c) { return lies_in(RunTable::capital_letters, c); }
bool is_small(char32_t c) { return lies_in(RunTable::small_letters, c); }
bool is_punctuation(char32_t c) { return lies_in(RunTable::punctuation, c); }
bool is_mark(char32_t c) { return lies_in(RunTable::marks, c); }
bool is_nonspacing_mark(char32_t c) { return lies_in(RunTable::nonspacing_marks, c); }
bool is_control(char32_t c) { return lies_in(RunTable::controls, c); }

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

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
