#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "support/argsort.h"
#include "support/error.h"
#include "text/unicode_packed.h"

namespace eigenscope::unicode {
namespace {

// The facts of Unicode as sorted tables. They are generated, packed, and unpacked at the first use.

/// A character and its full decomposition.
struct Decomposition {
  char32_t character;
  std::u32string parts;
};

/// Primary composites by their two characters.
using Compositions = std::map<std::pair<char32_t, char32_t>, char32_t>;

enum class RunTable {
  categories,         ///< their values: places in kCategoryNames of unicode_packed.h
  han,                ///< script Han
  lower,              ///< their values: how far away the lower-case forms lie
  combining_classes,  ///< ranks of the canonical combining class among the classes above 0, from 1
};

/// The entry of a sorted table that begins at or before `c`, or nullptr.
template <class Entry>
const Entry* entry_before(std::span<const Entry> table, char32_t c, char32_t Entry::*first) {
  if (c < table.front().*first) return nullptr;  // most characters of most texts
  const auto after =
      std::upper_bound(table.begin(), table.end(), c,
                       [&](char32_t value, const Entry& entry) { return value < entry.*first; });
  return &*(after - 1);
}

/// The run of a sorted table that has `c`, or nullptr.
const Run* run_of(std::span<const Run> table, char32_t c) {
  const Run* const run = entry_before(table, c, &Run::first);
  const bool is_in = run != nullptr && c <= run->last && (c - run->first) % run->step == 0;
  return is_in ? run : nullptr;
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view digits) : digits_(digits) {}

  bool is_done() const { return digits_.empty(); }

  std::uint32_t natural() {
    std::uint32_t number = 0;
    for (int shift = 0;; shift += 5) {
      const auto digit = static_cast<std::uint32_t>(kDigits.find(digits_.front()));
      digits_.remove_prefix(1);
      number |= (digit & 31u) << shift;
      if (digit < 32) return number;
    }
  }

  std::int32_t integer() {
    const std::uint32_t number = natural();
    const auto half = static_cast<std::int32_t>(number >> 1);
    return number % 2 == 0 ? half : -half - 1;
  }

 private:
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string_view digits_;
};

std::vector<Run> unpacked_runs(std::string_view digits, bool have_values = false) {
  std::vector<Run> runs;
  char32_t before = 0;
  for (Unpacker unpacker(digits); !unpacker.is_done();) {
    const char32_t first = before + unpacker.natural();
    const std::uint32_t length = unpacker.natural(), step = 1 + length % 2;
    before = first + length / 2 * step;
    runs.push_back({first, before, step, have_values ? unpacker.integer() : 0});
  }
  return runs;
}

std::vector<Decomposition> unpacked_decompositions(std::span<const std::string_view> digits) {
  std::vector<Unpacker> columns(digits.begin(), digits.end());
  Unpacker &characters = columns[0], &lengths = columns[1], &repeats = columns[2];
  const std::span parts = std::span(columns).subspan(3);
  std::vector<Decomposition> rows;
  Decomposition row{};
  while (!characters.is_done()) {
    const std::uint32_t step = characters.natural(), length = lengths.natural();
    std::vector<std::int32_t> differences(length / 2);
    for (std::size_t k = 0; k < differences.size(); ++k) {
      differences[k] = parts[std::min(k, parts.size() - 1)].integer();
    }
    const std::uint32_t count = length % 2 == 0 ? 1 : 2 + repeats.natural();
    row.parts.resize(differences.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      row.character += step;
      for (std::size_t k = 0; k < differences.size(); ++k) {
        row.parts[k] += static_cast<char32_t>(differences[k]);
      }
      rows.push_back(row);
    }
  }
  return rows;
}

std::span<const Run> runs_of(RunTable table) {
  static const std::array kTables{
      unpacked_runs(packed::kCategories, true),
      unpacked_runs(packed::kHan),
      unpacked_runs(packed::kLower, true),
      unpacked_runs(packed::kCombiningClasses, true),
  };
  return kTables[static_cast<std::size_t>(table)];
}

/// The canonical decompositions (NFD), except of Hangul syllables.
std::span<const Decomposition> canonical() {
  static const auto kRows = unpacked_decompositions(packed::kCanonical);
  return kRows;
}

/// The compatibility decompositions (NFKD) that differ from NFD.
std::span<const Decomposition> compatible() {
  static const auto kRows = unpacked_decompositions(packed::kCompatible);
  return kRows;
}

/// A composite joins its last part with what the parts before it compose to.
Compositions inverse_decompositions() {
  const std::vector<Run> excluded = unpacked_runs(packed::kNotComposed);
  std::map<std::u32string, char32_t> by_parts;
  for (const Decomposition& row : canonical()) {
    if (row.parts.size() > 1 && run_of(excluded, row.character) == nullptr) {
      by_parts.emplace(row.parts, row.character);
    }
  }
  Compositions pairs;
  for (const auto& [parts, composite] : by_parts) {
    const std::u32string rest = parts.substr(0, parts.size() - 1);
    pairs[{rest.size() == 1 ? rest[0] : by_parts.at(rest), parts.back()}] = composite;
  }
  return pairs;
}

/// Primary composites, except Hangul syllables.
const Compositions& compositions() {
  static const Compositions kPairs = inverse_decompositions();
  return kPairs;
}

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

/// The bytes of a character that begins with the byte `lead`; 0 for a byte that begins none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;  // a continuation, or an overlong form
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

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
    const std::u32string run(begin, end);
    std::vector<double> ranks;
    for (const char32_t c : run) ranks.push_back(combining_rank(c));
    for (const std::size_t place : argsort(ranks)) *begin++ = run[place];
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

std::span<const Run> han() { return runs_of(RunTable::han); }

std::u32string normalized(std::u32string_view text, NormalForm form) {
  const bool compatible_too = form == NormalForm::nfkc || form == NormalForm::nfkd;
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_decomposed(out, c, compatible_too);
  reorder(out);
  return form == NormalForm::nfc || form == NormalForm::nfkc ? composed(out) : out;
}

}  // namespace eigenscope::unicode
