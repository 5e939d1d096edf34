#include "checkpoint/numbered_part.h"

#include <algorithm>
#include <cstddef>

namespace eigenscope {
namespace {

constexpr std::string_view kNumbers = "-00000-of-00000";  // what follows the model's name
constexpr std::size_t kDigits = 5;

std::string padded(int number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits;
}

bool has_form(std::string_view numbers) {
  return std::equal(numbers.begin(), numbers.end(), kNumbers.begin(), [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  });
}

}  // namespace

std::vector<std::string> NumberedPart::names() const {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) {
    all.push_back(model + "-" + padded(i) + "-of-" + padded(count) + ending);
  }
  return all;
}

std::optional<NumberedPart> numbered_part(const std::string& name, std::string_view ending) {
  const std::size_t length = kNumbers.size() + ending.size();
  if (name.size() <= length || !name.ends_with(ending)) return std::nullopt;
  const std::string model = name.substr(0, name.size() - length);
  const std::string numbers = name.substr(model.size(), kNumbers.size());
  if (!has_form(numbers)) return std::nullopt;
  return NumberedPart{model, std::string(ending), std::stoi(numbers.substr(1, kDigits)),
                      std::stoi(numbers.substr(kNumbers.size() - kDigits))};
}

}  // namespace eigenscope
