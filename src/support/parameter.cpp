#include "support/parameter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "support/error.h"

namespace eigenscope {
namespace {

constexpr double kLargestSeed = 9007199254740991.0;  // 2^53 - 1: exact in JavaScript's numbers too

constexpr Parameter kParameters[] = {
    {"mean", reals(-1e6, 1e6), 0.25, "mean of the eigenspectrum, tr(W)/d"},
    {"variance", reals(0, 1e12), 0.1,
     "variance of the eigenspectrum; for ensembles that are not symmetric the Frobenius variance"},
    {"eigenvalue", reals(-1e6, 1e6), 0, "eigenvalue of an explicit list"},
    {"width", integers(2, 4096), 64, "model width d"},
    {"head_width", integers(1, 4096), 32,
     "head width d_h, the rank of the factored ensemble; at most the width"},
    {"length", integers(2, 2048), 48, "sequence length T in tokens"},
    {"query", integers(2, 2048), 48,
     "position q of the query, with visible keys 1 to q; at most the length"},
    {"temperature", reals(1e-6, 1e6), 8, "softmax temperature lambda, sqrt(d_h) in practice"},
    {"correlation", reals_below(0, 1), 0.9, "correlation a of neighbouring AR(1) tokens"},
    {"seed", integers(0, kLargestSeed), 1, "seed of every random draw"},
    {"samples", integers(2, 1e8), 2000, "number of sampled sequences"},
    {"xi", reals(-1e30, 1e30), 16, "tr(W Sigma), the width times the mean eigenvalue"},
    {"eta_s", reals(-1e60, 1e60), 10.4, "tr((W Sigma)^2)"},
    {"eta_f", reals(0, 1e60), 10.4, "tr(W Sigma W^T Sigma), at least |eta_S|"},
    {"heads", integers(1, 4096), 1, "attention heads per layer; must divide the width"},
    {"offset", integers(0, 1000000), 0, "query minus key position, for rotary positions"},
    {"depth", integers(0, 512), 12, "number of layers"},
    {"mlp_ratio", reals(0, 16), 0,
     "hidden width of the MLP over the model width; 0 removes the MLP"},
    {"window", integers(1, 2048), 8, "visible keys of a query with the window mask"},
    {"blocks", integers(1, 256), 4,
     "parallel blocks of the blocks mask; all keys are visible to the last block"},
    {"prefix", integers(0, 2048), 0, "first tokens, visible to every block of the blocks mask"},
    {"selected", integers(0, 256), 256,
     "earlier blocks visible to a query of the last block: those with its largest attention"},
    {"key_heads", integers(0, 4096), 0,
     "key and value heads, shared by groups of query heads; 0 means as many as query heads"},
    {"steps", integers(0, 1e7), 1000, "training steps"},
    {"trainings", integers(2, 1000), 5, "training runs, each with examples of its own"},
    {"qk_clip", reals(0, 1e6), 0,
     "QK-Clip: largest scaled logit of a head before W_Q and W_K are scaled down; 0 disables it"},
    {"prior_weight", reals(0, 1000), 1,
     "attention prior: weight of KL(prior || attention) in the loss"},
    {"min_count", integers(1, 1e9), 3,
     "minimum word count in the training text; rarer words become <unk>"},
    {"seeds", integers(1, 1000), 1,
     "number of seeds per regularizer, beginning with the given seed"},
    {"passages", integers(1, 10000), 12, "number of passages"},
    {"queries", integers(2, 1000000), 1000, "attention rows drawn per prediction of a head"},
    {"level", integers(0, 10), 4, "predictor level; 0 is the isotropic theory"},
};

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

std::string allowed_range(const Parameter& parameter) {
  const Range& p = parameter.range;
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
