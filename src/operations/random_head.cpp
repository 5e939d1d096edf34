// One random head: its spectrum, one sampled attention matrix, its theory, and all three at once.
#include "attention/attention.h"
#include "operations/operations.h"
#include "operations/theory_fields.h"
#include "propagation/propagation.h"
#include "simulation/logit_sampler.h"
#include "spectrum/eigenvalues.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct SpectrumResult {
  SpectralMoments moments;
  double variance_modulus = 0;
  Eigen::VectorXcd eigenvalues;
};

void describe(ResultFields& out, const SpectrumResult& result) {
  out.object("moments", "moments of W_QK", [&](ResultFields& inner) {
    describe(inner, result.moments);
    inner.number("variance_modulus", result.variance_modulus,
                 "E|mu - mean|^2 over all eigenvalues");
  });
  out.array("eigenvalues", result.eigenvalues, {{"eigenvalue", result.eigenvalues.size()}},
            "eigenvalues by decreasing modulus");
}

SpectrumResult spectrum_of(Ensemble& ensemble, const SpectrumPoint& point) {
  SpectrumResult result{ensemble.moments(point.mean, point.variance), 0,
                        ensemble.eigenvalues(point.mean, point.variance)};
  sort_for_display(result.eigenvalues);
  result.variance_modulus = variance_modulus(result.eigenvalues, result.moments.width);
  return result;
}

SpectrumResult compute_spectrum(const SpectrumInput& in) {
  Ensemble ensemble(in.ensemble.settings());
  return spectrum_of(ensemble, in.point());
}

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

AttentionResult attention_of(const Ensemble& ensemble, const AttentionInput& in) {
  const auto [mean, variance] = in.spectrum.point();
  const Eigen::MatrixXd tokens =
      sample_tokens(in.tokens.process(), ensemble.width(), in.spectrum.ensemble.seed, /*sample=*/0);
  const Eigen::MatrixXd logits = attention_logits(tokens, ensemble.matrix(mean, variance));
  // A column is a query: stored by columns, the matrix lies query after query.
  const Eigen::MatrixXd weights = attention_weights(logits, in.temperature, in.softmax, in.mask);
  return {weights, query_entropies(weights, in.mask)};
}

AttentionResult compute_attention(const AttentionInput& in) {
  return attention_of(Ensemble(in.spectrum.ensemble.settings()), in);
}

struct PropagationInput {
  SpectrumInput spectrum;
  std::optional<double> xi, eta_s, eta_f;
  TokensInput tokens;
  QueryInput query;
  double temperature = 0;
};

void describe(InputFields& f, PropagationInput& in) {
  describe(f, in.spectrum);
  f.number_or("from the ensemble", shared::kXi, in.xi);
  f.number_or("from the ensemble", shared::kEtaS, in.eta_s);
  f.number_or("from the ensemble", shared::kEtaF, in.eta_f);
  describe(f, in.tokens);
  describe(f, in.query);
  f.number(shared::kTemperature, in.temperature);
}

void describe_keys(ResultFields& out, const Propagation& theory) {
  const Dimension position{"position", theory.rho.size()};
  out.array("mean", theory.law.mean, {position}, "mean of the centred logit of each key");
  out.array("std", theory.law.std, {position}, "its standard deviation");
  out.array("rho", theory.rho, {position}, "signal propagation probability");
  describe_theory(out, theory);
}

struct PropagationResult {
  SpectralMoments moments;
  Propagation theory;
};

void describe(ResultFields& out, const PropagationResult& result) {
  out.object("moments",
             "moments of W_QK; with given traces, the moments that follow from traces and width",
             [&](ResultFields& inner) { describe(inner, result.moments); });
  describe_keys(out, result.theory);
}

// Traces that are not given are the ensemble's.
SpectralMoments moments_of(const PropagationInput& in) {
  const SpectrumPoint point = in.spectrum.point();
  SpectralMoments moments =
      Ensemble(in.spectrum.ensemble.settings()).moments(point.mean, point.variance);
  if (!in.xi && !in.eta_s && !in.eta_f) return moments;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const Traces& drawn = moments.traces;
  const Traces traces{in.xi.value_or(drawn.xi), in.eta_s.value_or(drawn.eta_s),
                      in.eta_f.value_or(drawn.eta_f)};
  check_traces(traces);
  // Cauchy-Schwarz for W and the identity; rounding may leave equal eigenvalues a little below.
  const double least = traces.xi * traces.xi / static_cast<double>(moments.width);
  if (traces.eta_f < least * (1 - 1e-9)) {
    throw InvalidArgument(
        "eta_f",
        "be at least xi^2 over the width of " + std::to_string(moments.width) + ", " + shown(least),
        "found " + shown(traces.eta_f));
  }
  return {moments.width, traces, kUnknown, kUnknown};
}

Propagation theory_of(const SpectralMoments& moments, const TokensInput& tokens,
                      const QueryInput& query, double temperature) {
  const TokenProcess process = tokens.process();
  return propagate(centred_kernels(process, query.range(process)), moments.traces, temperature);
}

PropagationResult compute_propagation(const PropagationInput& in) {
  const SpectralMoments moments = moments_of(in);
  return {moments, theory_of(moments, in.tokens, in.query, in.temperature)};
}

struct RandomHeadInput {
  AttentionInput attention;
  QueryInput query;
};

void describe(InputFields& f, RandomHeadInput& in) {
  describe(f, in.attention);
  describe(f, in.query);
}

struct RandomHeadResult {
  SpectrumResult spectrum;
  AttentionResult attention;
  Propagation theory;
};

void describe(ResultFields& out, const RandomHeadResult& result) {
  describe(out, result.spectrum);
  describe(out, result.attention);
  describe_keys(out, result.theory);
}

// The ensemble is drawn once for all three.
RandomHeadResult compute_random_head(const RandomHeadInput& in) {
  const AttentionInput& head = in.attention;
  Ensemble ensemble(head.spectrum.ensemble.settings());
  const SpectrumResult spectrum = spectrum_of(ensemble, head.spectrum.point());
  return {spectrum, attention_of(ensemble, head),
          theory_of(spectrum.moments, head.tokens, in.query, head.temperature)};
}

}  // namespace

const Operation spectrum_operation = operation<SpectrumInput, OneShotJob<&compute_spectrum>>(
    "spectrum", "Moments and eigenvalues of one member of an ensemble of W_QK",
    "eigenscope spectrum --ensemble factored --width 64 --head-width 16 --variance 0.3 --csv");

const Operation attention_operation = operation<AttentionInput, OneShotJob<&compute_attention>>(
    "attention", "One sampled attention matrix with its normalized row entropies",
    "# Attention that localizes on late tokens\n"
    "eigenscope attention --mean 0.02 --variance 0.0001 --length 12 --csv");

const Operation propagation_operation =
    operation<PropagationInput, OneShotJob<&compute_propagation>>(
        "propagation",
        "Theory of one head: distribution of the logits, signal propagation probability rho, "
        "localization index, regime",
        "# A head of width 64 with mean eigenvalue 0.25 and no spread\n"
        "eigenscope propagation --length 48 --xi 16 --eta-s 4 --eta-f 4 --temperature 8");

const Operation random_head_operation =
    operation<RandomHeadInput, OneShotJob<&compute_random_head>>(
        "random-head",
        "Eigenvalues, one sampled attention matrix and the theory of one member of an ensemble, "
        "which is drawn once",
        "eigenscope random-head --mean 0.25 --variance 0.001 --length 12");

}  // namespace eigenscope
