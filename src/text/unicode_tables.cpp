#include "text/unicode_tables.h"

#include <array>
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

std::vector<Decomposition> unpacked_decompositions(std::string_view digits) {
  std::vector<Decomposition> rows;
  Decomposition row{};
  for (Unpacker unpacker(digits); !unpacker.is_done();) {
    const std::uint32_t step = unpacker.natural(), length = unpacker.natural();
    std::vector<std::int32_t> differences(length / 2);
    for (std::int32_t& difference : differences) difference = unpacker.integer();
    const std::uint32_t count = length % 2 == 0 ? 1 : 2 + unpacker.natural();
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

}  // namespace

std::span<const Run> runs_of(RunTable table) {
  static const std::array kTables{
      unpacked_runs(packed::kCategories, true),
      unpacked_runs(packed::kHan),
      unpacked_runs(packed::kLower, true),
      unpacked_runs(packed::kCombiningClasses, true),
  };
  return kTables[static_cast<std::size_t>(table)];
}

std::span<const Decomposition> canonical() {
  static const auto kRows = unpacked_decompositions(packed::kCanonical);
  return kRows;
}

std::span<const Decomposition> compatible() {
  static const auto kRows = unpacked_decompositions(packed::kCompatible);
  return kRows;
}

const Compositions& compositions() {
  static const Compositions kPairs = inverse_decompositions();
  return kPairs;
}

}  // namespace eigenscope::unicode
