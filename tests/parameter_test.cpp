#include "support/parameter.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "catch.h"
#include "operations/operations.h"
#include "support/error.h"
#include "support/shared_parameters.h"

using namespace eigenscope;

namespace {

std::string refusal(const Parameter& parameter, std::string_view text) {
  try {
    parse_parameter(parameter, text);
  } catch (const InvalidArgument& error) {
    CHECK(error.field() == parameter.name);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every parameter accepts its bounds and default and refuses what lies beyond") {
  std::set<const Parameter*> all;
  for (const Operation* operation : kOperations) {
    for_each_field(*operation, [&](const InputField& field) {
      if (field.parameter) all.insert(field.parameter);
    });
  }
  REQUIRE_FALSE(all.empty());
  for (const Parameter* parameter : all) {
    const Parameter& p = *parameter;
    INFO(p.name);
    CHECK(checked(p, p.default_value) == p.default_value);
    const auto& [minimum, maximum, integer, open_minimum, open_maximum] = p.range;
    const double below = open_minimum ? minimum : minimum - 1 - std::abs(minimum);
    const double above = open_maximum ? maximum : maximum * 1.5 + 1;
    CHECK_THROWS_AS(checked(p, below), InvalidArgument);
    CHECK_THROWS_AS(checked(p, above), InvalidArgument);
    if (!open_minimum) CHECK(checked(p, minimum) == minimum);
    if (!open_maximum) CHECK(checked(p, maximum) == maximum);
    CHECK_THROWS_AS(checked(p, std::nan("")), InvalidArgument);
    CHECK_THROWS_AS(checked(p, std::numeric_limits<double>::infinity()), InvalidArgument);
    if (integer) CHECK_THROWS_AS(checked(p, p.default_value + 0.5), InvalidArgument);
  }
}

TEST_CASE("a refusal names the field, what was given and the allowed range") {
  CHECK(refusal(shared::kWidth, "-3") == "width must be an integer from 2 to 4096: found -3");
  CHECK(refusal(shared::kLength, "2.5") == "length must be an integer from 2 to 2048: found 2.5");
  CHECK(refusal(shared::kCorrelation, "1") ==
        "correlation must be a number from 0, below 1: found 1");
  CHECK(refusal(shared::kTemperature, "0") ==
        "temperature must be a number from 1e-06 to 1000000: found 0");
  constexpr Parameter kAbove{"gamma", reals_above(0, 1e6), 1, "a factor"};
  CHECK_THROWS_WITH(parse_parameter(kAbove, "0"),
                    "gamma must be a number above 0, at most 1000000: found 0");
  // Neither what was typed nor a bound is rounded.
  CHECK(refusal(shared::kLength, "2048.00000000001") ==
        "length must be an integer from 2 to 2048: found 2048.00000000001");
  CHECK(refusal(shared::kSeed, "1e300") ==
        "seed must be an integer from 0 to 9007199254740991: found 1e300");
  CHECK_THAT(refusal(shared::kMean, "1e999"), EndsWith(": found 1e999"));
  CHECK_THAT(refusal(shared::kMean, ""), EndsWith(": found an empty text"));
}

TEST_CASE("a text must be one number") {
  CHECK(parse_parameter(shared::kMean, "-0.25") == -0.25);
  CHECK(parse_parameter(shared::kSamples, "1e3") == 1000);
  for (const char* text : {"", " ", "abc", "1x", "1,5", "0x10", "1 2", " 1", "nan", "inf", "--1"}) {
    INFO('"' << text << '"');
    CHECK(refusal(shared::kMean, text) != "accepted");
  }
}
