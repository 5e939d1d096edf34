// One row of attention: softmax and its clipped expansion with the gradients of both, and its
// entropy over the spread of its logits, in theory and simulation.
#include <vector>

#include "attention/softmax.h"
#include "operations/estimates.h"
#include "operations/operations.h"
#include "simulation/row_entropy.h"
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

struct RowEntropyInput {
  std::vector<double> lengths{8, 32, 128, 512};
  std::vector<double> logit_stds{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5};
  Eigen::Index samples = 0;
  std::uint64_t seed = 0;

  RowEntropies begin() const { return {lengths, logit_stds, samples, seed}; }
};

void describe(InputFields& f, RowEntropyInput& in) {
  f.numbers("lengths", shared::kLength, in.lengths, "numbers of keys");
  f.numbers("logit_stds", kLogitStd, in.logit_stds,
            "standard deviations of the logits over the temperature");
  f.number(shared::kSamples, in.samples,
           "rows drawn per length, shared by the standard deviations");
  f.number(shared::kSeed, in.seed);
}

struct RowEntropyResult {
  std::vector<RowEntropy> rows;
};

void describe_entropy_row(ResultFields& out, const RowEntropy& row) {
  out.integer("length", row.length, "number of keys T");
  out.number("logit_std", row.logit_std, "standard deviation s of the logits over the temperature");
  out.number("freezing_point", row.length > 1 ? freezing_point(row.length) : 0,
             "freezing point sqrt(2 log T); a long row with a larger s is frozen");
  out.number(
      "limit_entropy", row.limit,
      "1 - s^2/(2 log T) below the freezing point, 0 above: row entropy over log T of the random "
      "energy model as T grows");
  out.number("theory_entropy", row.exact.entropy,
             "expected row entropy over log T, exact at this T");
  out.number("theory_square_weight", row.exact.square_weight,
             "expected sum of the squared weights, exact at this T");
  out.integer("samples", row.sampled.samples, "rows sampled so far");
  describe(out, "entropy", row.sampled.entropy, "mean row entropy over log T of the sampled rows");
}

void describe(ResultFields& out, const RowEntropyResult& result) {
  out.list("rows", result.rows, "one row for each length and standard deviation",
           describe_entropy_row);
}

RowEntropyResult row_entropy_result(const RowEntropies& entropies) { return {entropies.rows()}; }

}  // namespace

const Operation softmax_row_operation =
    operation<SoftmaxRowInput, OneShotJob<&compute_softmax_row>>(
        "softmax-row", "One row of attention: exact and clipped softmax with their gradients",
        "eigenscope softmax-row --logits 12,-3,0,2,-11 --temperature 4 --csv");

const Operation row_entropy_operation = operation<RowEntropyInput, JobOf<&row_entropy_result>>(
    "row-entropy",
    "Entropy of a softmax row of independent normal logits: limit, exact expectation, simulation",
    "eigenscope row-entropy --lengths 128 --logit-stds 1,2,3 --samples 10000 --csv", "rows");

}  // namespace eigenscope
