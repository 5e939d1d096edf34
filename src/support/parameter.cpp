#include "support/parameter.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "support/error.h"

namespace eigenscope {
namespace {

constexpr double kLargestSeed = 9007199254740991.0;  // 2^53 - 1: exact in JavaScript's numbers too

constexpr std::array kParameters{
    Parameter{.name = "mean",
              .symbol = "m",
              .minimum = -1e6,
              .maximum = 1e6,
              .fallback = 0.25,
              .meaning = "mean of the eigenspectrum, tr(W)/d"},
    Parameter{.name = "variance",
              .symbol = "v",
              .minimum = 0,
              .maximum = 1e12,
              .fallback = 0.1,
              .meaning = "variance of the eigenspectrum; for ensembles that are not symmetric the "
                         "Frobenius variance"},
    Parameter{.name = "eigenvalue",
              .symbol = "mu",
              .minimum = -1e6,
              .maximum = 1e6,
              .fallback = 0,
              .meaning = "one eigenvalue of an explicit list"},
    Parameter{.name = "width",
              .symbol = "d",
              .minimum = 2,
              .maximum = 4096,
              .fallback = 64,
              .integer = true,
              .meaning = "model width d"},
    Parameter{.name = "head_width",
              .symbol = "d_h",
              .minimum = 1,
              .maximum = 4096,
              .fallback = 32,
              .integer = true,
              .meaning = "head width d_h, the rank of the factored ensemble; at most the width"},
    Parameter{.name = "length",
              .symbol = "T",
              .minimum = 2,
              .maximum = 2048,
              .fallback = 48,
              .integer = true,
              .meaning = "sequence length T in tokens"},
    Parameter{.name = "temperature",
              .symbol = "lambda",
              .minimum = 1e-6,
              .maximum = 1e6,
              .fallback = 8,
              .meaning = "softmax temperature lambda, sqrt(d_h) in practice"},
    Parameter{.name = "correlation",
              .symbol = "a",
              .minimum = 0,
              .maximum = 1,
              .fallback = 0.9,
              .open_maximum = true,
              .meaning = "correlation a of neighbouring AR(1) tokens"},
    Parameter{.name = "seed",
              .symbol = "seed",
              .minimum = 0,
              .maximum = kLargestSeed,
              .fallback = 1,
              .integer = true,
              .meaning = "seed of every random draw"},
    Parameter{.name = "samples",
              .symbol = "N",
              .minimum = 2,
              .maximum = 1e8,
              .fallback = 2000,
              .integer = true,
              .meaning = "number of sampled sequences"},
    Parameter{.name = "count",
              .symbol = "n",
              .minimum = 2,
              .maximum = 1000,
              .fallback = 25,
              .integer = true,
              .meaning = "points of a range"},
    Parameter{.name = "x_from",
              .symbol = "xi/lambda",
              .minimum = -10000,
              .maximum = 10000,
              .fallback = -8,
              .meaning = "smallest xi/lambda of a map"},
    Parameter{.name = "x_to",
              .symbol = "xi/lambda",
              .minimum = -10000,
              .maximum = 10000,
              .fallback = 8,
              .meaning = "largest xi/lambda of a map"},
    Parameter{.name = "y_from",
              .symbol = "sqrt(eta_F)/lambda",
              .minimum = 0,
              .maximum = 10000,
              .fallback = 0.01,
              .open_minimum = true,
              .meaning = "smallest sqrt(eta_F)/lambda of a map"},
    Parameter{.name = "y_to",
              .symbol = "sqrt(eta_F)/lambda",
              .minimum = 0,
              .maximum = 10000,
              .fallback = 100,
              .open_minimum = true,
              .meaning = "largest sqrt(eta_F)/lambda of a map"},
    Parameter{.name = "from",
              .symbol = "v",
              .minimum = 0,
              .maximum = 1e+06,
              .fallback = 0.0001,
              .open_minimum = true,
              .meaning = "smallest variance of a range"},
    Parameter{.name = "to",
              .symbol = "v",
              .minimum = 0,
              .maximum = 1e+06,
              .fallback = 100,
              .open_minimum = true,
              .meaning = "largest variance of a range"},
    Parameter{.name = "asymmetry",
              .symbol = "eta_S/eta_F",
              .minimum = -1,
              .maximum = 1,
              .fallback = 1,
              .meaning = "eta_S/eta_F; 1 for a symmetric W"},
    Parameter{.name = "xi",
              .symbol = "xi",
              .minimum = -1e30,
              .maximum = 1e30,
              .fallback = 16,
              .meaning = "tr(W Sigma), the width times the mean eigenvalue"},
    Parameter{.name = "eta_s",
              .symbol = "eta_S",
              .minimum = -1e60,
              .maximum = 1e60,
              .fallback = 10.4,
              .meaning = "tr((W Sigma)^2)"},
    Parameter{.name = "eta_f",
              .symbol = "eta_F",
              .minimum = 0,
              .maximum = 1e60,
              .fallback = 10.4,
              .meaning = "tr(W Sigma W^T Sigma), at least |eta_S|"},
    Parameter{.name = "heads",
              .symbol = "heads",
              .minimum = 1,
              .maximum = 4096,
              .fallback = 1,
              .integer = true,
              .meaning = "attention heads in each layer; they share the width in equal parts"},
    Parameter{.name = "depth",
              .symbol = "layers",
              .minimum = 0,
              .maximum = 512,
              .fallback = 12,
              .integer = true,
              .meaning = "layers of a stack"},
    Parameter{.name = "stacks",
              .symbol = "n",
              .minimum = 1,
              .maximum = 100000,
              .fallback = 8,
              .integer = true,
              .meaning = "stacks sampled, each with tokens and weights of its own"},
    Parameter{.name = "first",
              .symbol = "first",
              .minimum = 0,
              .maximum = 1e9,
              .fallback = 0,
              .integer = true,
              .meaning = "number of the first stack; the following ones follow it"},
    Parameter{.name = "skip",
              .symbol = "alpha",
              .minimum = 0,
              .maximum = 10,
              .fallback = 1,
              .meaning = "weight of the skip connection, 0 for none"},
    Parameter{.name = "mlp",
              .symbol = "r",
              .minimum = 0,
              .maximum = 16,
              .fallback = 0,
              .meaning = "hidden width of the ReLU layer over the width, 0 for none"},
    Parameter{.name = "window",
              .symbol = "w",
              .minimum = 1,
              .maximum = 2048,
              .fallback = 8,
              .integer = true,
              .meaning = "keys that a query sees with the window mask"},
    Parameter{.name = "blocks",
              .symbol = "b",
              .minimum = 1,
              .maximum = 256,
              .fallback = 4,
              .integer = true,
              .meaning = "parallel blocks of the blocks mask; the last one sees all"},
    Parameter{.name = "prefix",
              .symbol = "p",
              .minimum = 0,
              .maximum = 2048,
              .fallback = 0,
              .integer = true,
              .meaning = "first tokens that every block of the blocks mask sees"},
    Parameter{.name = "selected",
              .symbol = "k",
              .minimum = 0,
              .maximum = 256,
              .fallback = 256,
              .integer = true,
              .meaning = "earlier blocks that a query of the last block reads: those it attends to "
                         "most"},
    Parameter{.name = "shear",
              .symbol = "w",
              .minimum = -1000,
              .maximum = 1000,
              .fallback = 8,
              .meaning = "W_V = I + w S of the shear values, S the shift by one coordinate"},
    Parameter{.name = "layer",
              .symbol = "layer",
              .minimum = 0,
              .maximum = 512,
              .fallback = 12,
              .integer = true,
              .meaning = "a layer of a stack, 0 for its input; at most the depth"},
    Parameter{.name = "floor",
              .symbol = "c",
              .minimum = 0,
              .maximum = 1,
              .fallback = 0.2,
              .meaning = "residual and entropy below which a stack counts as collapsed"},
    Parameter{.name = "passages",
              .symbol = "n",
              .minimum = 1,
              .maximum = 10000,
              .fallback = 12,
              .integer = true,
              .meaning = "passages of text that are run through a model"},
    Parameter{.name = "queries",
              .symbol = "n",
              .minimum = 2,
              .maximum = 1000000,
              .fallback = 1000,
              .integer = true,
              .meaning = "rows of attention drawn for each prediction of a head"},
    Parameter{.name = "resamples",
              .symbol = "n",
              .minimum = 1,
              .maximum = 1000000,
              .fallback = 2000,
              .integer = true,
              .meaning = "draws of a bootstrap interval"},
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
                        given + " is not allowed; it must be " + allowed_range(parameter));
}

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

const Parameter& parameter(std::string_view name) {
  for (const Parameter& candidate : kParameters) {
    if (candidate.name == name) return candidate;
  }
  throw InvalidArgument(std::string(name), "there is no parameter of this name");
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

double checked(std::string_view name, double value) {
  const Parameter& p = parameter(name);
  if (!allows(p, value)) refuse(p, shown(value));
  return value;
}

double parse_parameter(std::string_view name, std::string_view text, std::string_view field) {
  const Parameter& p = parameter(name);
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
