#include "support/parameter.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "catch.h"
#include "support/error.h"

using namespace eigenscope;

namespace {

std::string refusal(std::string_view name, std::string_view text) {
  try {
    parse_parameter(name, text);
  } catch (const InvalidArgument& error) {
    CHECK(error.field() == name);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every parameter accepts its bounds and default and refuses what lies beyond") {
  REQUIRE_FALSE(parameters().empty());
  for (const Parameter& p : parameters()) {
    INFO(p.name);
    CHECK(checked(p.name, p.default_value) == p.default_value);
    const double below = p.open_minimum ? p.minimum : p.minimum - 1 - std::abs(p.minimum);
    const double above = p.open_maximum ? p.maximum : p.maximum * 1.5 + 1;
    CHECK_THROWS_AS(checked(p.name, below), InvalidArgument);
    CHECK_THROWS_AS(checked(p.name, above), InvalidArgument);
    if (!p.open_minimum) CHECK(checked(p.name, p.minimum) == p.minimum);
    if (!p.open_maximum) CHECK(checked(p.name, p.maximum) == p.maximum);
    CHECK_THROWS_AS(checked(p.name, std::nan("")), InvalidArgument);
    CHECK_THROWS_AS(checked(p.name, std::numeric_limits<double>::infinity()), InvalidArgument);
    if (p.integer) CHECK_THROWS_AS(checked(p.name, p.default_value + 0.5), InvalidArgument);
  }
}

TEST_CASE("parameter names are unique and unknown ones are refused") {
  std::set<std::string_view> names;
  for (const Parameter& p : parameters()) CHECK(names.insert(p.name).second);
  CHECK_THROWS_AS(parameter("no_such"), InvalidArgument);
}

TEST_CASE("a refusal names the field, what was given and the allowed range") {
  CHECK(refusal("width", "-3") == "width: -3 is not allowed; it must be an integer from 2 to 4096");
  CHECK(refusal("length", "2.5") ==
        "length: 2.5 is not allowed; it must be an integer from 2 to 2048");
  CHECK(refusal("correlation", "1") ==
        "correlation: 1 is not allowed; it must be a number from 0, below 1");
  CHECK(refusal("temperature", "0") ==
        "temperature: 0 is not allowed; it must be a number from 1e-06 to 1000000");
  CHECK(refusal("tame", "0") ==
        "tame: 0 is not allowed; it must be a number above 0, at most 1000000");
  // Neither what was typed nor a bound is rounded.
  CHECK(refusal("length", "2048.00000000001") ==
        "length: 2048.00000000001 is not allowed; it must be an integer from 2 to 2048");
  CHECK_THAT(refusal("seed", "1e300"), EndsWith("from 0 to 9007199254740991"));
  CHECK_THAT(refusal("mean", "1e999"), StartsWith("mean: 1e999 is not"));
  CHECK_THAT(refusal("mean", ""), StartsWith("mean: an empty text is not"));
}

TEST_CASE("a text must be one number") {
  CHECK(parse_parameter("mean", "-0.25") == -0.25);
  CHECK(parse_parameter("samples", "1e3") == 1000);
  for (const char* text : {"", " ", "abc", "1x", "1,5", "0x10", "1 2", " 1", "nan", "inf", "--1"}) {
    INFO('"' << text << '"');
    CHECK(refusal("mean", text) != "accepted");
  }
}
