// Jobs about one setting: check, theory, simulation, spectrum, attention.
#include <functional>

#include "attention/attention.h"
#include "bindings/convert.h"
#include "bindings/localize/module.h"
#include "spectrum/ensemble.h"
#include "support/parameter.h"

namespace eigenscope::bindings {
namespace {

/// A computation that is short enough for one step.
class ShortJob final : public Job {
 public:
  explicit ShortJob(std::function<val()> compute) : compute_(std::move(compute)) {}
  bool advance(double) override {
    output_ = compute_();
    return true;
  }
  double progress() const override { return output_.isNull() ? 0 : 1; }
  val output() override { return output_; }

 private:
  std::function<val()> compute_;
  val output_ = val::null();
};

val theory(const val& input) {
  const Ensemble ensemble(ensemble_settings_of(input));
  const SpectralMoments moments =
      ensemble.moments(number(input, "mean"), number(input, "variance"));
  const Propagation found =
      propagate(centred_kernel(tokens_of(input)), moments.traces, number(input, "temperature"));
  val out = val::object();
  out.set("moments", moments_value(moments));
  out.set("mean", array_of(found.law.mean));
  out.set("std", array_of(found.law.std));
  out.set("rho", array_of(found.rho));
  out.set("localization", number_or_null(found.localization));
  out.set("regime", std::string(regime_name(found.regime)));
  return out;
}

val spectrum(const val& input) {
  Ensemble ensemble(ensemble_settings_of(input));
  const double mean = number(input, "mean"), variance = number(input, "variance");
  const SpectralMoments moments = ensemble.moments(mean, variance);
  const Eigen::VectorXcd eigenvalues = ensemble.eigenvalues(mean, variance);
  val out = val::object();
  val shown = moments_value(moments);
  shown.set("variance_modulus", variance_modulus(eigenvalues, moments.width));
  out.set("moments", shown);
  out.set("eigenvalues", array_of(eigenvalues));
  return out;
}

val attention(const val& input) {
  const Ensemble ensemble(ensemble_settings_of(input));
  const TokenProcess process = tokens_of(input);
  const Mask mask = mask_of(input);
  const Eigen::MatrixXd tokens = sample_tokens(
      process, ensemble.width(), static_cast<std::uint64_t>(number(input, "seed")), /*sample=*/0);
  const Eigen::MatrixXd weights = attention_weights(
      attention_logits(tokens, ensemble.matrix(number(input, "mean"), number(input, "variance"))),
      number(input, "temperature"), softmax_of_name(text(input, "softmax")), mask);
  // Stored by columns: query after query, the rows of the contract.
  const Eigen::VectorXf by_query = weights.reshaped().cast<float>();
  val out = val::object();
  out.set("length", static_cast<double>(process.length));
  out.set("weights", array_of(by_query));
  out.set("entropy", array_of(query_entropies(weights, mask)));
  return out;
}

class SimulationJob final : public Job {
 public:
  explicit SimulationJob(const val& input) : simulation_(settings(input)) {}

  bool advance(double work) override {
    return simulation_.advance(1 + static_cast<Eigen::Index>(work / simulation_.work_per_step()));
  }
  double progress() const override {
    return static_cast<double>(simulation_.steps_done()) /
           static_cast<double>(simulation_.steps_wanted());
  }
  val output() override {
    const RowEstimate e = simulation_.estimate(0);
    val out = val::object();
    out.set("samples", static_cast<double>(e.samples));
    out.set("mean", array_of(e.mean));
    out.set("mean_error", array_of(e.mean_error));
    out.set("std", array_of(e.std));
    out.set("std_error", array_of(e.std_error));
    out.set("rho", array_of(e.rho));
    out.set("rho_error", array_of(e.rho_error));
    out.set("sensitivity", array_of(e.sensitivity));
    out.set("sensitivity_error", array_of(e.sensitivity_error));
    out.set("localization", estimate_value(e.localization));
    out.set("entropy", estimate_value(e.entropy));
    out.set("participation", estimate_value(e.participation));
    out.set("sensitivity_localization", estimate_value(e.sensitivity_localization));
    out.set("regime", std::string(regime_name(e.regime)));
    return out;
  }

 private:
  static SimulationSettings settings(const val& input) {
    SimulationSettings settings = simulation_settings_of(input);
    settings.points = {{number(input, "mean"), number(input, "variance")}};
    return settings;
  }

  Simulation simulation_;
};

}  // namespace

std::unique_ptr<Job> make_setting_job(const std::string& name, const val& input) {
  if (name == "simulation") return std::make_unique<SimulationJob>(input);
  if (name == "check") {
    return std::make_unique<ShortJob>(
        [input] { return val(parse_parameter(text(input, "name"), text(input, "text"))); });
  }
  for (const auto& [known, compute] :
       {std::pair{"theory", &theory}, {"spectrum", &spectrum}, {"attention", &attention}}) {
    if (name == known) return std::make_unique<ShortJob>([input, f = compute] { return f(input); });
  }
  return nullptr;
}

}  // namespace eigenscope::bindings
