#include "support/parameter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "support/error.h"

namespace eigenscope {
namespace {

bool allows(const Parameter& p, double value) {
  const Range& range = p.range;
  const bool above = range.open_minimum ? value > range.minimum : value >= range.minimum;
  const bool below = range.open_maximum ? value < range.maximum : value <= range.maximum;
  const bool whole = !range.integer || value == std::floor(value);
  return above && below && whole;  // a NaN fails every comparison
}

[[noreturn]] void refuse(const Parameter& parameter, const std::string& given,
                         std::string_view field = {}) {
  throw InvalidArgument(std::string(field.empty() ? parameter.name : field),
                        "be " + allowed_range(parameter), "found " + given);
}

}  // namespace

std::string shown(double value) {
  char text[40];
  for (int digits = 7; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

std::string allowed_range(const Parameter& parameter) {
  const Range& p = parameter.range;
  const std::string kind = p.integer ? "an integer " : "a number ";
  const char* const upper = p.open_maximum ? ", below " : p.open_minimum ? ", at most " : " to ";
  return kind + (p.open_minimum ? "above " : "from ") + shown(p.minimum) + upper + shown(p.maximum);
}

double checked(const Parameter& p, double value, std::string_view field) {
  if (!allows(p, value)) refuse(p, shown(value), field);
  return value;
}

void check_ascending(const Parameter& p, std::span<const double> values) {
  if (values.empty()) throw InvalidArgument(std::string(p.name), "have an entry");
  for (const double value : values) checked(p, value);
  if (!std::is_sorted(values.begin(), values.end(), std::less_equal<>())) {
    throw InvalidArgument(std::string(p.name), "have entries each larger than the one before");
  }
}

double parse_parameter(const Parameter& p, std::string_view text, std::string_view field) {
  const std::string copy(text);  // strtod needs the terminator
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  const bool whole_text = end != copy.c_str() && end == copy.c_str() + copy.size();
  const bool plain = copy.find_first_of("xX \t\n") == std::string::npos;
  if (whole_text && plain && allows(p, value)) return value;
  // The message has the text as typed, not the rounded number.
  refuse(p, copy.empty() ? "an empty text" : whole_text ? copy : "'" + copy + "'", field);
}

}  // namespace eigenscope
