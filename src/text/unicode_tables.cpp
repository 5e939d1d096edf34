#include "text/unicode_tables.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "text/unicode_packed.h"

namespace eigenscope::unicode {
namespace {

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

/// `row(first, last, unpacker)` for each run.
template <class Row>
auto unpacked_runs(std::string_view digits, Row row) {
  std::vector<decltype(row(char32_t{}, char32_t{}, std::declval<Unpacker&>()))> rows;
  char32_t before = 0;
  for (Unpacker unpacker(digits); !unpacker.is_done();) {
    const char32_t first = before + unpacker.natural();
    before = first + unpacker.natural();
    rows.push_back(row(first, before, unpacker));
  }
  return rows;
}

std::vector<Run> unpacked(std::string_view digits) {
  return unpacked_runs(digits, [](char32_t first, char32_t last, Unpacker&) {
    return Run{first, last};
  });
}

std::vector<Decomposition> unpacked_decompositions(std::string_view digits) {
  std::vector<Decomposition> rows;
  Decomposition before{};
  for (Unpacker unpacker(digits); !unpacker.is_done();) {
    Decomposition row{before.character + unpacker.natural(), {}};
    const std::uint32_t length = unpacker.natural();
    for (std::uint32_t k = 0; k < length; ++k) {
      const char32_t same_place = k < before.parts.size() ? before.parts[k] : 0;
      row.parts += same_place + static_cast<char32_t>(unpacker.integer());
    }
    rows.push_back(row);
    before = std::move(row);
  }
  return rows;
}

/// A composite joins its last part with what the parts before it compose to.
std::vector<Composition> found_compositions() {
  std::set<char32_t> excluded;
  for (const Run& run : unpacked(packed_excluded())) excluded.insert(run.first);
  std::map<std::u32string, char32_t> by_parts;
  for (const Decomposition& row : canonical()) {
    if (row.parts.size() > 1 && !excluded.contains(row.character)) {
      by_parts.emplace(row.parts, row.character);
    }
  }
  std::vector<Composition> rows;
  for (const auto& [parts, composite] : by_parts) {
    const std::u32string rest = parts.substr(0, parts.size() - 1);
    rows.push_back({rest.size() == 1 ? rest[0] : by_parts.at(rest), parts.back(), composite});
  }
  std::sort(rows.begin(), rows.end(), [](const Composition& a, const Composition& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return rows;
}

}  // namespace

std::span<const Run> letters() {
  static const std::vector<Run> kRuns = unpacked(packed_letters());
  return kRuns;
}

std::span<const Run> capital_letters() {
  static const std::vector<Run> kRuns = unpacked(packed_capital_letters());
  return kRuns;
}

std::span<const Run> small_letters() {
  static const std::vector<Run> kRuns = unpacked(packed_small_letters());
  return kRuns;
}

std::span<const Run> numbers() {
  static const std::vector<Run> kRuns = unpacked(packed_numbers());
  return kRuns;
}

std::span<const Run> punctuation() {
  static const std::vector<Run> kRuns = unpacked(packed_punctuation());
  return kRuns;
}

std::span<const Run> marks() {
  static const std::vector<Run> kRuns = unpacked(packed_marks());
  return kRuns;
}

std::span<const Run> nonspacing_marks() {
  static const std::vector<Run> kRuns = unpacked(packed_nonspacing_marks());
  return kRuns;
}

std::span<const Run> controls() {
  static const std::vector<Run> kRuns = unpacked(packed_controls());
  return kRuns;
}

std::span<const LowerRun> lower() {
  static const auto kRuns =
      unpacked_runs(packed_lower(), [](char32_t first, char32_t last, Unpacker& unpacker) {
        const auto step = static_cast<std::uint32_t>(unpacker.integer());
        return LowerRun{first, last, step, unpacker.integer()};
      });
  return kRuns;
}

std::span<const CombiningRun> combining_classes() {
  static const auto kRuns = unpacked_runs(
      packed_combining_classes(), [](char32_t first, char32_t last, Unpacker& unpacker) {
        return CombiningRun{first, last, static_cast<std::uint32_t>(unpacker.integer())};
      });
  return kRuns;
}

std::span<const Decomposition> canonical() {
  static const auto kRows = unpacked_decompositions(packed_canonical());
  return kRows;
}

std::span<const Decomposition> compatible() {
  static const auto kRows = unpacked_decompositions(packed_compatible());
  return kRows;
}

std::span<const Composition> compositions() {
  static const std::vector<Composition> kRows = found_compositions();
  return kRows;
}

}  // namespace eigenscope::unicode
