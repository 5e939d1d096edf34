// Theory of one head: its ensemble's, or of given traces.
#include "propagation/propagation.h"

#include "operations/operations.h"
#include "operations/theory_input.h"
#include "operations/theory_result.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

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

struct PropagationResult {
  SpectralMoments moments;
  Propagation found;
};

void describe(ResultFields& out, const PropagationResult& result) {
  const Propagation& found = result.found;
  const Dimension position{"position", found.rho.size()};
  out.object("moments",
             "moments of W_QK; with given traces, the moments that follow from traces and width",
             [&](ResultFields& inner) { describe(inner, result.moments); });
  out.array("mean", found.law.mean, {position}, "mean of the centred logit of each key");
  out.array("std", found.law.std, {position}, "its standard deviation");
  out.array("rho", found.rho, {position}, "signal propagation probability");
  describe_theory(out, found);
}

// Traces that are not given are the ensemble's.
SpectralMoments moments_of(const PropagationInput& in) {
  const SpectrumPoint point = in.spectrum.point();
  SpectralMoments moments =
      Ensemble(in.spectrum.ensemble.settings()).moments(point.mean, point.variance);
  if (!in.xi && !in.eta_s && !in.eta_f) return moments;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const Traces& own = moments.traces;
  const Traces traces{in.xi.value_or(own.xi), in.eta_s.value_or(own.eta_s),
                      in.eta_f.value_or(own.eta_f)};
  check_traces(traces);
  // Cauchy-Schwarz for W and the identity; rounding may leave equal eigenvalues a little below.
  const double least = traces.xi * traces.xi / static_cast<double>(moments.width);
  if (traces.eta_f < least * (1 - 1e-9)) {
    throw InvalidArgument("eta_f", "be at least xi^2 over the width, " + shown(least),
                          "found " + shown(traces.eta_f));
  }
  return {moments.width, traces, kUnknown, kUnknown};
}

PropagationResult compute_propagation(const PropagationInput& in) {
  const SpectralMoments moments = moments_of(in);
  const TokenProcess process = in.tokens.process();
  return {moments, propagate(centred_kernels(process, in.query.range(process)), moments.traces,
                             in.temperature)};
}

}  // namespace

const Operation propagation_operation =
    operation<PropagationInput, OneShotJob<&compute_propagation>>(
        "propagation",
        "Theory of one head: distribution of the logits, signal propagation probability rho, "
        "localization index, regime",
        "# A head of width 64 with mean eigenvalue 0.25 and no spread\n"
        "eigenscope propagation --length 48 --xi 16 --eta-s 4 --eta-f 4 --temperature 8");

}  // namespace eigenscope
