#include "operations/theory_fields.h"

#include <string>

#include "operations/estimates.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

constexpr Parameter kQuery{"query", integers(2, 2048), 48,
                           "position q of the query, with visible keys 1 to q; at most the length"};

}  // namespace

EnsembleSettings EnsembleInput::settings() const {
  if (kind != EnsembleKind::list && !eigenvalues.empty()) {
    throw InvalidArgument("eigenvalues", "be omitted without --ensemble list");
  }
  return {kind, width, head_width, seed, eigenvalues};
}

void describe(InputFields& f, EnsembleInput& in) {
  f.choice("ensemble", in.kind, kEnsembleNames, "ensemble of W_QK");
  f.numbers("eigenvalues", shared::kEigenvalue, in.eigenvalues,
            "eigenvalues of the ensemble 'list'; a given mean or variance rescales them");
  f.number(shared::kWidth, in.width);
  f.number(shared::kHeadWidth, in.head_width);
  f.number(shared::kSeed, in.seed);
  f.excludes("eigenvalues", "width");
}

SpectrumPoint SpectrumInput::point() const {
  const std::vector<double>& list = ensemble.eigenvalues;
  SpectrumPoint drawn{shared::kMean.default_value, shared::kVariance.default_value};
  if (!list.empty()) {
    const double centre = vector_of(list).mean();
    drawn = {centre, (vector_of(list).array() - centre).square().mean()};
  }
  return {mean.value_or(drawn.mean), variance.value_or(drawn.variance)};
}

void describe(InputFields& f, SpectrumInput& in) {
  describe(f, in.ensemble);
  f.number(shared::kMean, in.mean);
  f.number(shared::kVariance, in.variance);
}

TokenProcess TokensInput::process() const {
  return token_process(token_kernels()[static_cast<std::size_t>(tokens)], length, correlation);
}

void describe(InputFields& f, TokensInput& in) { describe(f, in, shared::kLength.default_value); }

void describe(InputFields& f, TokensInput& in, double length) {
  f.choice("tokens", in.tokens, token_kernels(), "token process");
  f.number(shared::kCorrelation, in.correlation);
  f.number_from(length, shared::kLength, in.length);
}

QueryRange QueryInput::range(const TokenProcess& process) const {
  if (all_queries) return causal_queries(process);
  return query ? QueryRange{*query, *query} : QueryRange{};
}

void describe(InputFields& f, QueryInput& in) {
  f.number_or("the last position", kQuery, in.query);
  f.flag("all_queries", in.all_queries, "average over the queries 2 to T, as in causal training");
  f.excludes("all_queries", "query");
}

void describe(InputFields& f, Mask& mask) {
  mask.kind = MaskKind::causal;
  f.choice("mask", mask.kind, kMaskNames, "mask: visible keys of a query");
  f.number(shared::kWindow, mask.window);
  f.number(shared::kBlocks, mask.blocks);
  f.number(shared::kPrefix, mask.prefix);
  f.number(shared::kSelected, mask.selected);
}

void describe(ResultFields& out, const SpectralMoments& m) {
  out.integer("width", m.width, "model width d");
  out.number("xi", m.traces.xi, "tr(W)");
  out.number("eta_s", m.traces.eta_s, "tr(W^2)");
  out.number("eta_f", m.traces.eta_f, "||W||_F^2");
  out.number("mean", m.mean(), "mean eigenvalue, tr(W)/d");
  out.number("variance", m.variance(), "tr(W^2)/d - mean^2; negative for mostly imaginary spectra");
  out.number("variance_frobenius", m.variance_frobenius(), "||W||_F^2/d - mean^2");
  out.nullable("fourth_moment", m.fourth_moment(),
               "tr(W^4)/tr(W^2)^2; the logits are nearly Gaussian if small");
  out.nullable("fourth_moment_frobenius", m.fourth_moment_frobenius(),
               "tr((W W^T)^2)/||W||_F^4, in [1/rank, 1]; the logits are nearly Gaussian if small, "
               "also for a non-symmetric W");
}

void describe_profile(ResultFields& out, Regime regime, Signal signal, const char* prefix) {
  const std::string start(prefix);
  out.choice((start + "regime").c_str(), static_cast<std::size_t>(regime), kRegimeNames,
             "keys with a large rho");
  out.choice((start + "signal").c_str(), static_cast<std::size_t>(signal), kSignalNames,
             "localized for an index of at least 0.1; otherwise alive for a mean of rho of at "
             "least 1/4, else dead");
}

void describe_theory(ResultFields& out, const Propagation& theory, const char* prefix) {
  const std::string start(prefix);
  out.nullable((start + "localization").c_str(), theory.localization,
               "localization index of rho; null where no signal propagates");
  out.nullable((start + "rho_mean").c_str(), theory.rho_mean, "mean of rho over the keys");
  describe_profile(out, theory.regime, theory.signal, prefix);
}

void describe_sampled(ResultFields& out, const RowEstimate& rows) {
  describe(out, "localization", rows.localization, "localization index of the sampled rho");
  describe(out, "rho_mean", rows.rho_mean, "mean of the sampled rho over the keys");
  describe_profile(out, rows.regime, rows.signal);
}

void describe_softmax(ResultFields& out, const RowEstimate& e, const char* prefix) {
  const std::string start(prefix);
  describe(out, (start + "entropy").c_str(), e.entropy, "row entropy over log T");
  describe(out, (start + "participation").c_str(), e.participation, "1/(T sum p^2)");
  describe(out, (start + "sensitivity_localization").c_str(), e.sensitivity_localization,
           "localization index of the exact softmax's sensitivity E[p_i (1 - p_i)]");
}

}  // namespace eigenscope
