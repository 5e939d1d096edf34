// Numeric fields: range, default and meaning. The library checks its inputs against them, the command line makes
// its options from them, and the page its controls, so that a bad value is refused in the same words everywhere.
// A parameter is a constant beside its use; those of several rooms are in shared_parameters.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/help.h"

namespace eigenscope {

/// Values that a parameter allows. `minimum` and `maximum` are inclusive unless `open_minimum` / `open_maximum`.
struct Range {
  double minimum;
  double maximum;
  bool integer = false;
  bool open_minimum = false;
  bool open_maximum = false;
};
constexpr Range integers(double minimum, double maximum) { return {minimum, maximum, true}; }
constexpr Range reals(double minimum, double maximum) { return {minimum, maximum}; }
/// Numbers above `minimum`, at most `maximum`.
constexpr Range reals_above(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .open_minimum = true};
}
/// Numbers of at least `minimum`, below `maximum`.
constexpr Range reals_below(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .open_maximum = true};
}

/// A numeric input.
struct Parameter {
  std::string_view name;  ///< a literal, snake_case; `--snake-case` on the command line
  Range range;
  double default_value;  ///< when the user gives none
  Help meaning;          ///< one line, with units where there are any
};

/// A number as messages show it: the fewest significant digits that give it back exactly.
std::string shown(double value);

/// "an integer from 2 to 4096", "a number above 0, at most 1000000", ...
std::string allowed_range(const Parameter& parameter);

/// Calls visit(name, value) for each field, `range` (allowed_range) last: for those who print them.
template <class Visit>
void visit_fields(const Parameter& p, Visit visit) {
  visit("name", std::string(p.name));
  visit("minimum", p.range.minimum);
  visit("maximum", p.range.maximum);
  visit("default", p.default_value);
  visit("integer", p.range.integer);
  visit("open_minimum", p.range.open_minimum);
  visit("open_maximum", p.range.open_maximum);
  visit("meaning", std::string(p.meaning.text()));
  visit("range", allowed_range(p));
}

/// `value` itself when it is finite and in range; otherwise throws InvalidArgument with a message
/// such as "width must be an integer from 2 to 4096: found -3".
/// `field` is the name under which an interface has it, where that is another.
double checked(const Parameter& parameter, double value, std::string_view field = {});

/// Throws InvalidArgument unless all values are in range, each larger than the one before, and there is one.
void check_ascending(const Parameter& parameter, std::span<const double> values);

/// `checked` for a text a person typed; the whole text must be one number.
double parse_parameter(const Parameter& parameter, std::string_view text,
                       std::string_view field = {});

}  // namespace eigenscope
