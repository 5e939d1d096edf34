#include "support/parameter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "support/error.h"

namespace eigenscope {
namespace {

constexpr double kLargestSeed = 9007199254740991.0;  // 2^53 - 1: exact in JavaScript's numbers too

constexpr std::array kParameters{
    Parameter{.name = "mean",
              .symbol = "m",
              .minimum = -1e6,
              .maximum = 1e6,
              .default_value = 0.25,
              .meaning = "mean of the eigenspectrum, tr(W)/d"},
    Parameter{.name = "variance",
              .symbol = "v",
              .minimum = 0,
              .maximum = 1e12,
              .default_value = 0.1,
              .meaning = "variance of the eigenspectrum; for ensembles that are not symmetric the "
                         "Frobenius variance"},
    Parameter{.name = "eigenvalue",
              .symbol = "mu",
              .minimum = -1e6,
              .maximum = 1e6,
              .default_value = 0,
              .meaning = "eigenvalue of an explicit list"},
    Parameter{.name = "width",
              .symbol = "d",
              .minimum = 2,
              .maximum = 4096,
              .default_value = 64,
              .integer = true,
              .meaning = "model width d"},
    Parameter{.name = "head_width",
              .symbol = "d_h",
              .minimum = 1,
              .maximum = 4096,
              .default_value = 32,
              .integer = true,
              .meaning = "head width d_h, the rank of the factored ensemble; at most the width"},
    Parameter{.name = "length",
              .symbol = "T",
              .minimum = 2,
              .maximum = 2048,
              .default_value = 48,
              .integer = true,
              .meaning = "sequence length T in tokens"},
    Parameter{.name = "query",
              .symbol = "q",
              .minimum = 2,
              .maximum = 2048,
              .default_value = 48,
              .integer = true,
              .meaning = "position q of the query, with visible keys 1 to q; at most the length"},
    Parameter{.name = "temperature",
              .symbol = "lambda",
              .minimum = 1e-6,
              .maximum = 1e6,
              .default_value = 8,
              .meaning = "softmax temperature lambda, sqrt(d_h) in practice"},
    Parameter{.name = "correlation",
              .symbol = "a",
              .minimum = 0,
              .maximum = 1,
              .default_value = 0.9,
              .open_maximum = true,
              .meaning = "correlation a of neighbouring AR(1) tokens"},
    Parameter{.name = "seed",
              .symbol = "seed",
              .minimum = 0,
              .maximum = kLargestSeed,
              .default_value = 1,
              .integer = true,
              .meaning = "seed of every random draw"},
    Parameter{.name = "samples",
              .symbol = "N",
              .minimum = 2,
              .maximum = 1e8,
              .default_value = 2000,
              .integer = true,
              .meaning = "number of sampled sequences"},
    Parameter{.name = "xi",
              .symbol = "xi",
              .minimum = -1e30,
              .maximum = 1e30,
              .default_value = 16,
              .meaning = "tr(W Sigma), the width times the mean eigenvalue"},
    Parameter{.name = "eta_s",
              .symbol = "eta_S",
              .minimum = -1e60,
              .maximum = 1e60,
              .default_value = 10.4,
              .meaning = "tr((W Sigma)^2)"},
    Parameter{.name = "eta_f",
              .symbol = "eta_F",
              .minimum = 0,
              .maximum = 1e60,
              .default_value = 10.4,
              .meaning = "tr(W Sigma W^T Sigma), at least |eta_S|"},
    Parameter{.name = "heads",
              .symbol = "heads",
              .minimum = 1,
              .maximum = 4096,
              .default_value = 1,
              .integer = true,
              .meaning = "attention heads per layer; must divide the width"},
    Parameter{.name = "offset",
              .symbol = "D",
              .minimum = 0,
              .maximum = 1000000,
              .default_value = 0,
              .integer = true,
              .meaning = "query minus key position, for rotary positions"},
    Parameter{.name = "depth",
              .symbol = "layers",
              .minimum = 0,
              .maximum = 512,
              .default_value = 12,
              .integer = true,
              .meaning = "number of layers"},
    Parameter{.name = "mlp_ratio",
              .symbol = "r",
              .minimum = 0,
              .maximum = 16,
              .default_value = 0,
              .meaning = "hidden width of the MLP over the model width; 0 removes the MLP"},
    Parameter{.name = "window",
              .symbol = "w",
              .minimum = 1,
              .maximum = 2048,
              .default_value = 8,
              .integer = true,
              .meaning = "visible keys of a query with the window mask"},
    Parameter{
        .name = "blocks",
        .symbol = "b",
        .minimum = 1,
        .maximum = 256,
        .default_value = 4,
        .integer = true,
        .meaning = "parallel blocks of the blocks mask; all keys are visible to the last block"},
    Parameter{.name = "prefix",
              .symbol = "p",
              .minimum = 0,
              .maximum = 2048,
              .default_value = 0,
              .integer = true,
              .meaning = "first tokens, visible to every block of the blocks mask"},
    Parameter{.name = "collapse_threshold",
              .symbol = "c",
              .minimum = 0,
              .maximum = 1,
              .default_value = 0.2,
              .meaning = "smallest residual and entropy of a stack that has not collapsed"},
    Parameter{.name = "selected",
              .symbol = "k",
              .minimum = 0,
              .maximum = 256,
              .default_value = 256,
              .integer = true,
              .meaning = "earlier blocks visible to a query of the last block: those with its "
                         "largest attention"},
    Parameter{
        .name = "key_heads",
        .symbol = "key heads",
        .minimum = 0,
        .maximum = 4096,
        .default_value = 0,
        .integer = true,
        .meaning =
            "key and value heads, shared by groups of query heads; 0 means as many as query heads"},
    Parameter{.name = "steps",
              .symbol = "steps",
              .minimum = 0,
              .maximum = 1e7,
              .default_value = 1000,
              .integer = true,
              .meaning = "training steps"},
    Parameter{.name = "trainings",
              .symbol = "N",
              .minimum = 2,
              .maximum = 1000,
              .default_value = 5,
              .integer = true,
              .meaning = "training runs, each with examples of its own"},
    Parameter{.name = "qk_clip",
              .symbol = "tau",
              .minimum = 0,
              .maximum = 1e6,
              .default_value = 0,
              .meaning =
                  "QK-Clip: largest scaled logit of a head before W_Q and W_K are scaled down; "
                  "0 disables it"},
    Parameter{.name = "prior_weight",
              .symbol = "c",
              .minimum = 0,
              .maximum = 1000,
              .default_value = 1,
              .meaning = "attention prior: weight of KL(prior || attention) in the loss"},
    Parameter{.name = "min_count",
              .symbol = "n",
              .minimum = 1,
              .maximum = 1e9,
              .default_value = 3,
              .integer = true,
              .meaning = "minimum word count in the training text; rarer words become <unk>"},
    Parameter{.name = "seeds",
              .symbol = "n",
              .minimum = 1,
              .maximum = 1000,
              .default_value = 1,
              .integer = true,
              .meaning = "number of seeds per regularizer, beginning with the given seed"},
    Parameter{.name = "passages",
              .symbol = "n",
              .minimum = 1,
              .maximum = 10000,
              .default_value = 12,
              .integer = true,
              .meaning = "number of passages"},
    Parameter{.name = "queries",
              .symbol = "n",
              .minimum = 2,
              .maximum = 1000000,
              .default_value = 1000,
              .integer = true,
              .meaning = "attention rows drawn per prediction of a head"},
    Parameter{.name = "level",
              .symbol = "level",
              .minimum = 0,
              .maximum = 10,
              .default_value = 4,
              .integer = true,
              .meaning = "predictor level; 0 is the isotropic theory"},
};

bool allows(const Parameter& p, double value) {
  const bool above = p.open_minimum ? value > p.minimum : value >= p.minimum;
  const bool below = p.open_maximum ? value < p.maximum : value <= p.maximum;
  const bool whole = !p.integer || value == std::floor(value);
  return above && below && whole;  // a NaN fails every comparison
}

[[noreturn]] void refuse(const Parameter& parameter, const std::string& given,
                         std::string_view field = {}) {
  throw InvalidArgument(std::string(field.empty() ? parameter.name : field),
                        "be " + allowed_range(parameter), "found " + given);
}

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

const Parameter& parameter(std::string_view name) {
  for (const Parameter& candidate : kParameters) {
    if (candidate.name == name) return candidate;
  }
  throw InvalidArgument(std::string(name), "be a parameter of the table");
}

std::string shown(double value) {
  char text[40];
  for (int digits = 7; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

std::string allowed_range(const Parameter& p) {
  const std::string kind = p.integer ? "an integer " : "a number ";
  const char* const upper = p.open_maximum ? ", below " : p.open_minimum ? ", at most " : " to ";
  return kind + (p.open_minimum ? "above " : "from ") + shown(p.minimum) + upper + shown(p.maximum);
}

double checked(std::string_view name, double value, std::string_view field) {
  return checked(parameter(name), value, field);
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

double parse_parameter(std::string_view name, std::string_view text, std::string_view field) {
  return parse_parameter(parameter(name), text, field);
}

double parse_parameter(const Parameter& p, std::string_view text, std::string_view field) {
  const std::string copy(text);  // strtod needs the terminator
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  const bool whole_text = end != copy.c_str() && end == copy.c_str() + copy.size();
  const bool plain = copy.find_first_of("xX \t\n") == std::string::npos;
  if (whole_text && plain && allows(p, value)) return value;
  // What was typed, not what it was rounded to.
  refuse(p, copy.empty() ? "an empty text" : whole_text ? copy : "'" + copy + "'", field);
}

}  // namespace eigenscope
