// One row of attention: softmax, its clipped expansion, and the gradients of both.
#include <vector>

#include "attention/softmax.h"
#include "operations/operations.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

constexpr Parameter kLogit{"logit", reals(-1e6, 1e6), 3, "one logit of a row of attention"};

struct SoftmaxRowInput {
  std::vector<double> logits;
  double temperature = 0;
};

void describe(InputFields& f, SoftmaxRowInput& in) {
  f.numbers("logits", kLogit, in.logits,
            "logits of the keys, before division by the temperature; at least two");
  f.number(shared::kTemperature, in.temperature);
}

struct SoftmaxRow {
  Eigen::VectorXd centred, weight, gradient, clipped, clipped_gradient;
};

void describe(ResultFields& out, const SoftmaxRow& row) {
  const Dimension key{"key", row.centred.size()};
  out.array("centred", row.centred, {key}, "logit minus the mean of the row, over the temperature");
  out.array("weight", row.weight, {key}, "attention weight, exact softmax");
  out.array("gradient", row.gradient, {key},
            "derivative of the weight with respect to its logit, times the temperature: p (1 - p)");
  out.array("clipped", row.clipped, {key},
            "weight of the piecewise linear softmax, clip((1 + centred)/T, 0, 1)");
  out.array(
      "clipped_gradient", row.clipped_gradient, {key},
      "derivative of the clipped weight, times the temperature: (1 - 1/T)/T where -1 < centred "
      "< T - 1, and 0 elsewhere; rho is the probability that it is not 0");
}

SoftmaxRow compute_softmax_row(const SoftmaxRowInput& in) {
  if (in.logits.size() < 2) throw InvalidArgument("logits", "have at least two entries");
  const Eigen::VectorXd logits = vector_of(in.logits);
  SoftmaxRow row;
  row.centred = (logits.array() - logits.mean()) / in.temperature;
  row.weight = softmax(logits, in.temperature);
  row.gradient = sensitivity(row.weight);
  row.clipped = piecewise_linear_softmax(logits, in.temperature);
  row.clipped_gradient = piecewise_linear_sensitivity(row.clipped);
  return row;
}

}  // namespace

const Operation softmax_row_operation =
    operation<SoftmaxRowInput, OneShotJob<&compute_softmax_row>>(
        "softmax-row", "One row of attention: exact and clipped softmax with their gradients",
        "eigenscope softmax-row --logits 12,-3,0,2,-11 --temperature 4 --csv");

}  // namespace eigenscope
