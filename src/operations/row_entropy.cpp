// Entropy of one row of attention over the spread of its logits: theory and simulation.
#include "simulation/row_entropy.h"

#include <vector>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

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

const Operation row_entropy_operation = operation<RowEntropyInput, JobOf<&row_entropy_result>>(
    "row-entropy",
    "Entropy of a softmax row of independent normal logits: limit, exact expectation, simulation",
    "eigenscope row-entropy --lengths 128 --logit-stds 1,2,3 --samples 10000 --csv", "rows");

}  // namespace eigenscope
