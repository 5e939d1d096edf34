// Signal propagation over means and variances: Monte Carlo of attention rows of one ensemble beside
// the theory, both over a grid, and the theory's phase map over (xi/lambda, sqrt(eta_F)/lambda).
#include <optional>

#include "operations/operations.h"
#include "operations/theory_fields.h"
#include "propagation/phase_map.h"
#include "simulation/gaussian_rows.h"
#include "simulation/simulation.h"
#include "support/error.h"
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

struct SweepInput {
  SpectrumInput spectrum;
  std::vector<double> means, variances;
  double variance_min = 0, variance_max = 0;
  Eigen::Index count = 0;
  TokensInput tokens;
  QueryInput query;
  double temperature = 0;
  Eigen::Index samples = 0;
  bool simulation_only = false;
};

void describe(InputFields& f, SweepInput& in) {
  describe(f, in.spectrum.ensemble);
  f.number(shared::kMean, in.spectrum.mean);
  f.numbers("means", shared::kMean, in.means, "means, in place of one mean");
  f.numbers("variances", shared::kVariance, in.variances,
            "variances, in place of a geometric range of `count` points");
  f.number(kVarianceMin, in.variance_min);
  f.number(kVarianceMax, in.variance_max);
  f.number(kVarianceCount, in.count);
  f.excludes("means", "mean");
  for (const char* name : {"variance_min", "variance_max", "count"}) f.excludes("variances", name);
  describe(f, in.tokens);
  describe(f, in.query);
  f.number(shared::kTemperature, in.temperature);
  f.number(shared::kSamples, in.samples);
  f.flag("simulation_only", in.simulation_only, "omit the theory");
}

struct SweepRow {
  SpectrumPoint point;
  Propagation theory;
  RowEstimate limit, sampled;
  std::string refused;
};
struct SweepResult {
  std::vector<SweepRow> rows;
};

void describe(ResultFields& out, const SweepRow& row) {
  out.number("mean", row.point.mean, "mean of the eigenspectrum");
  out.number("variance", row.point.variance, "variance of the eigenspectrum");
  describe_theory(out, row.theory, "theory_");
  describe_softmax(out, row.limit, "theory_");
  out.integer("samples", row.sampled.samples, "sequences sampled so far");
  describe_sampled(out, row.sampled);
  describe_softmax(out, row.sampled);
  out.text("refused", row.refused,
           "reason why the ensemble does not exist at this point; empty if it does");
}

void describe(ResultFields& out, const SweepResult& result) {
  out.list("rows", result.rows, "one row for each mean and variance");
}

class SweepJob {
 public:
  explicit SweepJob(const SweepInput& in)
      : sweep_({.ensemble = in.spectrum.ensemble.settings(),
                .tokens = in.tokens.process(),
                .temperature = in.temperature,
                .samples = in.samples,
                .points = {},
                .queries = in.query.range(in.tokens.process())},
               in.means.empty() ? std::vector{in.spectrum.point().mean} : in.means,
               in.variances.empty() ? variance_range(in.variance_min, in.variance_max, in.count)
                                    : in.variances) {
    if (!in.simulation_only) add_theory(in);
  }

  bool advance(double work) {
    if (!sampled_) {
      sampled_ = advance_by_work(sweep_, work);
      return sampled_ && !limit_;
    }
    return advance_by_work(*limit_, work);
  }
  double progress() const {
    const double sampled = progress_of(sweep_);
    return limit_ ? (sampled + progress_of(*limit_)) / 2 : sampled;
  }
  SweepResult result() const {
    SweepResult result;
    for (std::size_t i = 0; i < sweep_.size(); ++i) {
      result.rows.push_back({sweep_.point(i),
                             limit_ ? sweep_.theory(i) : Propagation{},
                             {},
                             sweep_.estimate(i),
                             sweep_.refused(i)});
    }
    for (std::size_t k = 0; k < places_.size(); ++k) {
      result.rows[places_[k]].limit = limit_->estimate(k);
    }
    return result;
  }

 private:
  // The theory of the exact softmax, by as many draws, where a point is not refused.
  void add_theory(const SweepInput& in) {
    std::vector<TracedHead> heads;
    for (std::size_t i = 0; i < sweep_.size(); ++i) {
      if (!sweep_.refused(i).empty()) continue;
      const auto [mean, variance] = sweep_.point(i);
      heads.push_back({sweep_.ensemble().moments(mean, variance).traces, in.temperature});
      places_.push_back(i);
    }
    limit_.emplace(in.tokens.process(), heads, in.samples, in.spectrum.ensemble.seed,
                   in.query.range(in.tokens.process()));
  }

  Sweep sweep_;
  std::optional<GaussianRows> limit_;
  std::vector<std::size_t> places_;
  bool sampled_ = false;
};

constexpr Parameter kLeft{"x_from", reals(-10000, 10000), -8, "smallest xi/lambda of a map"};
constexpr Parameter kRight{"x_to", reals(-10000, 10000), 8, "largest xi/lambda of a map"};
constexpr Parameter kColumns{"x_count", integers(2, 1000), 25, "columns of a map"};
constexpr Parameter kBottom{"y_from", reals_above(0, 10000), 0.01,
                            "smallest sqrt(eta_F)/lambda of a map"};
constexpr Parameter kTop{"y_to", reals_above(0, 10000), 100, "largest sqrt(eta_F)/lambda of a map"};
constexpr Parameter kRows{"y_count", integers(2, 1000), 25, "rows of a map"};

void check_order(const char* field, const char* other, const Axis& axis) {
  if (axis.from < axis.to) return;
  throw InvalidArgument(
      field, std::string("be below ") + other,
      std::string(other) + " " + shown(axis.to) + ", " + field + " " + shown(axis.from));
}

struct MapInput {
  TokensInput tokens;
  double asymmetry = 0;
  Axis x, y;

  PhaseMap begin() const {
    check_order("x_from", "x_to", x);
    check_order("y_from", "y_to", y);
    return PhaseMap({tokens.process(), asymmetry, x, y});
  }
};

void describe(InputFields& f, MapInput& in) {
  describe(f, in.tokens);
  f.number(kAsymmetry, in.asymmetry);
  f.number(kLeft, in.x.from);
  f.number(kRight, in.x.to);
  f.number(kColumns, in.x.count);
  f.number(kBottom, in.y.from);
  f.number(kTop, in.y.to);
  f.number(kRows, in.y.count);
}

struct MapResult {
  Eigen::VectorXd x, y;
  std::vector<float> localization, rho_mean;
  std::vector<std::uint8_t> regime, signal;
};

void describe(ResultFields& out, const MapResult& map) {
  const Dimension row{"sqrt_eta_f_over_lambda", map.y.size()},
      column{"xi_over_lambda", map.x.size()};
  out.array("xi_over_lambda", map.x, {column}, "xi/lambda of each column");
  out.array("sqrt_eta_f_over_lambda", map.y, {row}, "sqrt(eta_F)/lambda of each row");
  out.array("localization", map.localization, {row, column},
            "localization index; NaN where no signal propagates");
  out.array("rho_mean", map.rho_mean, {row, column}, "mean of rho over the keys");
  out.choices("regime", map.regime, kRegimeNames, {row, column}, "keys with a large rho");
  out.choices("signal", map.signal, kSignalNames, {row, column},
              "localized, uniform-alive or uniform-dead");
}

MapResult map_result(const PhaseMap& map) {
  MapResult result{Eigen::VectorXd(map.columns()),
                   Eigen::VectorXd(map.rows()),
                   map.localization(),
                   map.rho_mean(),
                   map.regime(),
                   map.signal()};
  for (Eigen::Index i = 0; i < map.columns(); ++i) result.x[i] = map.x(i);
  for (Eigen::Index i = 0; i < map.rows(); ++i) result.y[i] = map.y(i);
  return result;
}

}  // namespace

const Operation simulate_operation = operation<SimulateInput, JobOf<&simulate_result>>(
    "simulate", "Monte Carlo simulation of attention rows with standard errors, and their theory",
    "# Does a small variance localize?\n"
    "eigenscope simulate --mean 0.25 --variance 0.001 --samples 10000\n"
    "eigenscope simulate --mean 0.25 --variance 1 --samples 10000");

const Operation sweep_operation = operation<SweepInput, SweepJob>(
    "sweep", "Localization, entropy and participation over means and variances",
    "eigenscope sweep --mean 0.25 --variances 0.001,0.01,0.1,1,10 --csv\n"
    "eigenscope sweep --means 0.1,0.5 --variance-min 0.001 --variance-max 10 --count 20 --ensemble "
    "two-point",
    "rows");

const Operation map_operation = operation<MapInput, JobOf<&map_result>>(
    "map", "Phase map: localization and regime over (xi/lambda, sqrt(eta_F)/lambda)",
    "# The map of heads as asymmetric as trained ones\n"
    "eigenscope map --tokens normalized-walk --length 128 --asymmetry 0.1 --csv");

}  // namespace eigenscope
