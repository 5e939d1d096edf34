// One sampled attention matrix.
#include "attention/attention.h"

#include "operations/operations.h"
#include "operations/theory_input.h"
#include "simulation/logit_sampler.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct AttentionInput {
  SpectrumInput spectrum;
  TokensInput tokens;
  Mask mask;
  double temperature = 0;
  SoftmaxKind softmax = SoftmaxKind::exact;
};

void describe(InputFields& f, AttentionInput& in) {
  describe(f, in.spectrum);
  describe(f, in.tokens);
  describe(f, in.mask);
  f.number(shared::kTemperature, in.temperature);
  f.choice("softmax", in.softmax, kSoftmaxNames, "form of the softmax");
}

struct AttentionResult {
  Eigen::MatrixXd weights;
  Eigen::VectorXd entropy;
};

void describe(ResultFields& out, const AttentionResult& result) {
  const Dimension query{"query", result.entropy.size()}, key{"key", result.entropy.size()};
  out.integer("length", query.size, "sequence length T");
  out.array_f32("weights", result.weights, {query, key}, "attention weights; masked entries are 0");
  out.array("entropy", result.entropy, {query},
            "row entropy over the log of the visible keys; NaN for one key");
}

AttentionResult compute_attention(const AttentionInput& in) {
  const EnsembleSettings settings = in.spectrum.ensemble.settings();
  const Ensemble ensemble(settings);
  const auto [mean, variance] = in.spectrum.point();
  const Eigen::MatrixXd tokens =
      sample_tokens(in.tokens.process(), ensemble.width(), settings.seed, /*sample=*/0);
  const Eigen::MatrixXd logits = attention_logits(tokens, ensemble.matrix(mean, variance));
  // A column is a query: stored by columns, the matrix lies query after query.
  const Eigen::MatrixXd weights = attention_weights(logits, in.temperature, in.softmax, in.mask);
  return {weights, query_entropies(weights, in.mask)};
}

}  // namespace

const Operation attention_operation = operation<AttentionInput, OneShotJob<&compute_attention>>(
    "attention", "One sampled attention matrix with its normalized row entropies",
    "# Attention that localizes on late tokens\n"
    "eigenscope attention --mean 0.02 --variance 0.0001 --length 12 --csv");

}  // namespace eigenscope
