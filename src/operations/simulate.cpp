// Monte Carlo of attention rows of one ensemble, beside the theory.
#include "simulation/simulation.h"

#include "operations/operations.h"
#include "operations/theory_input.h"
#include "operations/theory_result.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct SimulateInput {
  SpectrumInput spectrum;
  TokensInput tokens;
  QueryInput query;
  double temperature = 0;
  Eigen::Index samples = 0;

  Simulation begin() const {
    return Simulation({.ensemble = spectrum.ensemble.settings(),
                       .tokens = tokens.process(),
                       .temperature = temperature,
                       .samples = samples,
                       .points = {spectrum.point()},
                       .queries = query.range(tokens.process())});
  }
};

void describe(InputFields& f, SimulateInput& in) {
  describe(f, in.spectrum);
  describe(f, in.tokens);
  describe(f, in.query);
  f.number(shared::kTemperature, in.temperature);
  f.number(shared::kSamples, in.samples);
}

struct SimulateResult {
  RowEstimate rows;
  SpectralMoments moments;
  Propagation theory;
};

void describe(ResultFields& out, const SimulateResult& result) {
  const RowEstimate& e = result.rows;
  const Dimension position{"position", e.rho.size()};
  out.integer("samples", e.samples, "sequences sampled so far");
  out.array("mean", e.mean, {position}, "mean of the centred logit of each key");
  out.array("mean_error", e.mean_error, {position}, "its standard error");
  out.array("std", e.std, {position}, "standard deviation of the centred logit of each key");
  out.array("std_error", e.std_error, {position}, "its standard error");
  out.array("rho", e.rho, {position}, "share of rows with the key in the linear range");
  out.array("rho_error", e.rho_error, {position}, "its standard error");
  out.array("sensitivity", e.sensitivity, {position}, "E[p_i (1 - p_i)] of the exact softmax");
  out.array("sensitivity_error", e.sensitivity_error, {position}, "its standard error");
  describe_sampled(out, e);
  describe_softmax(out, e);
  out.object("moments", "moments of the simulated W_QK",
             [&](ResultFields& inner) { describe(inner, result.moments); });
  out.object("theory", "theory of the same W_QK", [&](ResultFields& inner) {
    const Propagation& theory = result.theory;
    inner.array("mean", theory.law.mean, {position}, "mean of the centred logit of each key");
    inner.array("std", theory.law.std, {position}, "its standard deviation");
    inner.array("rho", theory.rho, {position}, "signal propagation probability");
    describe_theory(inner, theory);
  });
}

SimulateResult simulate_result(const Simulation& simulation) {
  return {simulation.estimate(0), simulation.moments(0), simulation.theory(0)};
}

}  // namespace

const Operation simulate_operation = operation<SimulateInput, JobOf<&simulate_result>>(
    "simulate", "Monte Carlo simulation of attention rows with standard errors, and their theory",
    "# Does a small variance localize?\n"
    "eigenscope simulate --mean 0.25 --variance 0.001 --samples 10000\n"
    "eigenscope simulate --mean 0.25 --variance 1 --samples 10000");

}  // namespace eigenscope
