#include "text/normal_form.h"

#include <algorithm>
#include <optional>

#include "text/unicode_tables.h"

namespace eigenscope::unicode {
namespace {

// Hangul syllables (lead, vowel, tail), Unicode standard, 3.12.
constexpr char32_t kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11a7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

bool lies_in(char32_t c, char32_t first, char32_t count) { return c >= first && c - first < count; }

std::int32_t combining_rank(char32_t c) {
  const Run* const run = run_of(runs_of(RunTable::combining_classes), c);
  return run == nullptr ? 0 : run->value;
}

const Decomposition* find(std::span<const Decomposition> table, char32_t c) {
  const Decomposition* const entry = entry_before(table, c, &Decomposition::character);
  return entry != nullptr && entry->character == c ? entry : nullptr;
}

void append_decomposed(std::u32string& text, char32_t c, bool compatible_too) {
  if (lies_in(c, kSyllables, kSyllableCount)) {
    const char32_t syllable = c - kSyllables;
    text += kLeads + syllable / (kVowelCount * kTailCount);
    text += kVowels + syllable / kTailCount % kVowelCount;
    if (syllable % kTailCount != 0) text += kTails + syllable % kTailCount;
    return;
  }
  const Decomposition* entry = compatible_too ? find(compatible(), c) : nullptr;
  if (entry == nullptr) entry = find(canonical(), c);
  if (entry == nullptr) {
    text += c;
    return;
  }
  text += entry->parts;
}

/// Sorts each run of combining characters by class, keeping the order within one.
void reorder(std::u32string& text) {
  const auto is_starter = [](char32_t c) { return combining_rank(c) == 0; };
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if_not(begin, text.end(), is_starter);
    const auto end = std::find_if(begin, text.end(), is_starter);
    std::stable_sort(begin, end,
                     [](char32_t a, char32_t b) { return combining_rank(a) < combining_rank(b); });
    begin = end;
  }
}

std::optional<char32_t> composite(char32_t first, char32_t second) {
  if (lies_in(first, kLeads, kLeadCount) && lies_in(second, kVowels, kVowelCount)) {
    return kSyllables + ((first - kLeads) * kVowelCount + second - kVowels) * kTailCount;
  }
  if (lies_in(first, kSyllables, kSyllableCount) && (first - kSyllables) % kTailCount == 0 &&
      lies_in(second, kTails + 1, kTailCount - 1)) {
    return first + second - kTails;
  }
  const auto composition = compositions().find({first, second});
  if (composition == compositions().end()) return std::nullopt;
  return composition->second;
}

/// A character joins the last starter unless one of the same or a higher class stands between.
std::u32string composed(std::u32string_view text) {
  std::u32string out;
  std::optional<std::size_t> starter;
  std::int32_t last = 0;  // class of the last character that stayed behind the starter
  for (const char32_t c : text) {
    const std::int32_t rank = combining_rank(c);
    const bool adjacent = starter && *starter + 1 == out.size();
    if (starter && (adjacent || last < rank)) {
      if (const auto joined = composite(out[*starter], c)) {
        out[*starter] = *joined;
        continue;
      }
    }
    if (rank == 0) starter = out.size();
    last = rank;
    out += c;
  }
  return out;
}

}  // namespace

std::u32string normalized(std::u32string_view text, NormalForm form) {
  const bool compatible_too = form == NormalForm::nfkc || form == NormalForm::nfkd;
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_decomposed(out, c, compatible_too);
  reorder(out);
  return form == NormalForm::nfc || form == NormalForm::nfkc ? composed(out) : out;
}

}  // namespace eigenscope::unicode
