// One row of attention: softmax, its clipped expansion, and the gradients of both.
#include <algorithm>
#include <vector>

#include "attention/softmax.h"
#include "operations/operations.h"
#include "support/error.h"

namespace eigenscope {
namespace {

struct SoftmaxRowInput {
  std::vector<double> logits;
  double temperature = 0;
};

void describe(InputFields& f, SoftmaxRowInput& in) {
  f.numbers("logits", "logit", in.logits,
            "logits of the keys, before division by the temperature; at least two");
  f.number("temperature", in.temperature);
}

struct SoftmaxRow {
  Eigen::VectorXd centred, weight, gradient, clipped, clipped_gradient;
};

void describe(ResultFields& out, const SoftmaxRow& row) {
  const Dimension key{"key", row.centred.size()};
  out.array("centred", row.centred, {key}, "logit minus the mean of the row, over the temperature");
  out.array("weight", row.weight, {key}, "attention weight, exact softmax");
  out.array("gradient", row.gradient, {key},
            "derivative of the weight by its own logit, times the temperature: p (1 - p)");
  out.array("clipped", row.clipped, {key},
            "weight of the piecewise linear softmax, clip((1 + centred)/T, 0, 1)");
  out.array(
      "clipped_gradient", row.clipped_gradient, {key},
      "derivative of the clipped weight, times the temperature: (1 - 1/T)/T where -1 < centred "
      "< T - 1, and 0 elsewhere; rho is the probability that it is not 0");
}

SoftmaxRow compute_softmax_row(const SoftmaxRowInput& in) {
  if (in.logits.size() < 2) throw InvalidArgument("logits", "there must be at least two");
  const Eigen::Map<const Eigen::VectorXd> logits(in.logits.data(),
                                                 static_cast<Eigen::Index>(in.logits.size()));
  const auto keys = static_cast<double>(logits.size());
  SoftmaxRow row;
  row.centred = (logits.array() - logits.mean()) / in.temperature;
  row.weight = softmax(logits, in.temperature);
  row.gradient = sensitivity(row.weight);
  row.clipped = piecewise_linear_softmax(logits, in.temperature);
  // The row's mean moves with each of its logits: hence the factor 1 - 1/T.
  row.clipped_gradient = row.clipped.unaryExpr(
      [&](double weight) { return weight > 0 && weight < 1 ? (1 - 1 / keys) / keys : 0.0; });
  return row;
}

}  // namespace

const Operation softmax_row_operation = operation<SoftmaxRowInput, Instant<&compute_softmax_row>>(
    "softmax-row", "One row of attention: exact and clipped softmax with their gradients",
    "eigenscope softmax-row --logits 12,-3,0,2,-11 --temperature 4 --csv");

}  // namespace eigenscope
