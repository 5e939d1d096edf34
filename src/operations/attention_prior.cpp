// Attention priors: accuracy of a small question-answering task over the number of training examples, with and
// without a prior on the attention weights.
#include "labs/attention_prior.h"

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"
#include "training/parameters.h"

namespace eigenscope {
namespace {

struct AttentionPriorInput : AttentionPriorSettings {};

void describe(InputFields& f, AttentionPriorInput& s) {
  f.numbers("examples", kExamples, s.examples, "numbers of training examples, ascending");
  f.number(training::kPriorWeight, s.prior_weight);
  f.number(shared::kHeadWidth, s.head_width, "head width d_h, the rank of W_QK");
  f.number(kStartScale, s.start_scale);
  f.number_from(600, shared::kSteps, s.steps);
  f.number(kTrainings, s.trainings);
  f.number(shared::kSeed, s.seed);
}

struct AttentionPriorResult {
  std::vector<AttentionPriorRow> rows;
  AttentionPriorAgreement agreement;
  std::vector<IdentityWeight> identity;
};

void describe_prior_row(ResultFields& out, const AttentionPriorRow& row) {
  out.choice("prior", static_cast<std::size_t>(row.prior), kPriorNames,
             "object with the weight of the prior in a training example");
  out.integer("examples", row.examples, "training examples");
  out.integer("trainings", row.trainings, "training runs so far");
  describe(out, "accuracy", row.accuracy, "share of correct answers on fresh scenes");
  describe(out, "gain", row.gain,
           "accuracy minus that without a prior, with the same examples and initial weights");
  describe(out, "target_weight", row.target_weight,
           "mean attention weight on the object that the question means");
  describe(out, "entropy", row.entropy, "row entropy over log 6");
  describe(out, "mean", row.mean, "mean of the eigenspectrum of W_QK over the features");
  describe(out, "variance", row.variance, "variance of this eigenspectrum");
}

void describe_identity_weight(ResultFields& out, const IdentityWeight& point) {
  out.number("mean", point.mean, "mean m of the eigenspectrum");
  out.number("target_weight", point.target_weight, "1/(1 + 5 exp(-m))");
}

void describe(ResultFields& out, const AttentionPriorResult& result) {
  out.list("rows", result.rows, "one row for each prior and number of examples",
           describe_prior_row);
  out.list("identity", result.identity, "weight on the target for W_QK = m I",
           describe_identity_weight);
  const AttentionPriorAgreement& agreement = result.agreement;
  describe(out, "mean_correlation", agreement.with_mean,
           "Spearman's correlation of the mean of the eigenspectrum with the weight on the target, "
           "over priors and numbers of examples; mean over training runs");
  describe(
      out, "variance_correlation", agreement.with_variance,
      "Spearman's correlation of the variance of the eigenspectrum with the weight on the target");
  describe(out, "accuracy_correlation", agreement.with_accuracy,
           "Spearman's correlation of the accuracy with the weight on the target");
  describe(out, "mean_error", agreement.mean_error,
           "mean distance of the weight on the target from 1/(1 + 5 exp(-mean)), which W_QK = "
           "mean I would have");
}

AttentionPriorResult attention_prior_result(const AttentionPriors& lab) {
  return {lab.rows(), lab.agreement(), lab.identity()};
}

}  // namespace

const Operation attention_prior_operation =
    operation<AttentionPriorInput, JobOf<&attention_prior_result>>(
        "attention-prior",
        "Accuracy of attention that is trained with and without a prior on its weights, over the "
        "number of examples",
        "eigenscope attention-prior --examples 200,800 --trainings 5 --csv", "rows");

}  // namespace eigenscope
