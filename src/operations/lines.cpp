// A predicted measure of many heads from their traces: on a grid of settings (`lines`), or of given
// heads (`head-theory`).
#include <array>
#include <limits>
#include <optional>

#include "operations/operations.h"
#include "operations/settings.h"
#include "simulation/gaussian_rows.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct MeasureName : Name {
  Estimate RowEstimate::* sampled;  ///< of Gaussian rows
};
constexpr std::array kMeasures{
    MeasureName{{"localization", "localization"}, &RowEstimate::localization},
    MeasureName{{"rho_mean", "mean of ρ"}, &RowEstimate::rho_mean},
    MeasureName{{"entropy", "entropy"}, &RowEstimate::entropy},
    MeasureName{{"participation", "participation"}, &RowEstimate::participation},
    MeasureName{{"sensitivity_localization", "sensitivity"},
                &RowEstimate::sensitivity_localization}};

struct MeasureInput {
  std::size_t measure = 0;
  TokensInput tokens;
  QueryInput query;
  Eigen::Index samples = 0;
};

void describe(InputFields& f, MeasureInput& in) {
  f.choice("measure", in.measure, kMeasures,
           "localization or the mean of rho in closed form, or a measure of the exact softmax");
  describe(f, in.tokens);
  describe(f, in.query);
  f.number("samples", in.samples, "rows drawn for each head, by a measure of the exact softmax");
}

struct MeasureValues {
  MeasureValues() = default;
  explicit MeasureValues(std::size_t heads)
      : value(Eigen::VectorXd::Constant(static_cast<Eigen::Index>(heads), kNaN)),
        error(value),
        regime(heads, static_cast<std::uint8_t>(Regime::none)) {}

  Eigen::VectorXd value, error;
  std::vector<std::uint8_t> regime;

  void put(std::size_t i, const Estimate& estimate, Regime found) {
    value[static_cast<Eigen::Index>(i)] = estimate.value;
    error[static_cast<Eigen::Index>(i)] = estimate.error;
    regime[i] = static_cast<std::uint8_t>(found);
  }
};

void describe(ResultFields& out, const MeasureValues& values, Shape shape) {
  out.array("value", values.value, shape, "the measure; NaN where the ensemble cannot be");
  out.array("error", values.error, shape, "its standard error; 0 in closed form");
  out.choices("regime", values.regime, kRegimeNames, shape, "where rho is large");
}

/// Localization and the mean of rho in closed form, the others as expectations over Gaussian rows; NaN for a missing head.
class Measured {
 public:
  Measured(const std::vector<std::optional<TracedHead>>& heads, const MeasureInput& in,
           std::uint64_t seed)
      : measure_(kMeasures[in.measure].sampled),
        kernels_(centred_kernels(in.tokens.process(), in.query.range(in.tokens.process()))),
        closed_(heads.size()) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (!heads[i]) continue;
      heads_.push_back(*heads[i]);
      places_.push_back(i);
    }
    level_ = in.measure == 1;
    if (in.measure < 2) return;
    rows_.emplace(in.tokens.process(), heads_, in.samples, seed,
                  in.query.range(in.tokens.process()));
  }

  bool advance(double work) {
    if (rows_) return advance_by_work(*rows_, work);
    double keys = 0;
    for (const CentredKernel& kernel : kernels_) keys += static_cast<double>(kernel.cross.size());
    const double step = kPropagationWork * keys;
    for (double left = work; left >= 0 && next_ < heads_.size(); left -= step) {
      const Propagation found = propagate(kernels_, heads_[next_].traces, heads_[next_].temperature);
      const double value = level_ ? found.rho_mean : found.localization;
      closed_.put(places_[next_++], {value, 0}, found.regime);
    }
    return next_ == heads_.size();
  }
  double progress() const {
    if (rows_) return share_done(*rows_);
    return heads_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(heads_.size());
  }
  MeasureValues values() const {
    MeasureValues values = closed_;
    for (std::size_t k = 0; rows_ && k < heads_.size(); ++k) {
      const RowEstimate estimate = rows_->estimate(k);
      values.put(places_[k], estimate.*measure_, estimate.regime);
    }
    return values;
  }

 private:
  Estimate RowEstimate::* measure_;
  bool level_ = false;  // the mean of rho, not its index
  std::vector<CentredKernel> kernels_;
  std::vector<TracedHead> heads_;
  std::vector<std::size_t> places_;
  std::optional<GaussianRows> rows_;
  std::size_t next_ = 0;
  MeasureValues closed_;
};

struct LinesInput {
  EnsembleInput ensemble;
  std::vector<double> means, variances;
  double temperature = 0;
  MeasureInput measure;
};

void describe(InputFields& f, LinesInput& in) {
  describe(f, in.ensemble);
  f.numbers("means", "mean", in.means, "means of the grid");
  f.numbers("variances", "variance", in.variances, "variances of the grid");
  f.number("temperature", in.temperature);
  describe(f, in.measure);
}

struct LinesResult {
  Eigen::VectorXd mean, variance;
  MeasureValues values;
};

void describe(ResultFields& out, const LinesResult& lines) {
  const Dimension mean{"mean", lines.mean.size()}, variance{"variance", lines.variance.size()};
  out.array("mean", lines.mean, {mean}, "means of the grid");
  out.array("variance", lines.variance, {variance}, "variances of the grid");
  describe(out, lines.values, {mean, variance});
}

class LinesJob {
 public:
  explicit LinesJob(const LinesInput& in)
      : in_(in), measured_(heads_on_grid(in), in.measure, in.ensemble.seed) {}

  bool advance(double work) { return measured_.advance(work); }
  double progress() const { return measured_.progress(); }
  LinesResult result() const {
    return {list(in_.means), list(in_.variances), measured_.values()};
  }

 private:
  // A variance that the ensemble cannot have leaves a gap in its line.
  static std::vector<std::optional<TracedHead>> heads_on_grid(const LinesInput& in) {
    const Ensemble ensemble(in.ensemble.settings());
    std::vector<std::optional<TracedHead>> heads;
    for (const double mean : in.means) {
      for (const double variance : in.variances) {
        heads.emplace_back();
        if (!ensemble.allows(mean, variance)) continue;
        heads.back() = TracedHead{ensemble.moments(mean, variance).traces, in.temperature};
      }
    }
    return heads;
  }
  static Eigen::VectorXd list(const std::vector<double>& numbers) {
    return Eigen::Map<const Eigen::VectorXd>(numbers.data(),
                                             static_cast<Eigen::Index>(numbers.size()));
  }

  LinesInput in_;
  Measured measured_;
};

struct HeadTheoryInput {
  std::vector<double> xi, eta_s, eta_f, temperature;
  std::uint64_t seed = 0;
  MeasureInput measure;
};

void describe(InputFields& f, HeadTheoryInput& in) {
  f.numbers("xi", "xi", in.xi, "xi of each head");
  f.numbers("eta_s", "eta_s", in.eta_s, "eta_S of each head");
  f.numbers("eta_f", "eta_f", in.eta_f, "eta_F of each head");
  f.numbers("temperature", "temperature", in.temperature, "softmax temperature of each head");
  f.number("seed", in.seed);
  describe(f, in.measure);
}

struct HeadTheoryResult {
  MeasureValues values;
};

void describe(ResultFields& out, const HeadTheoryResult& result) {
  describe(out, result.values, {{"head", result.values.value.size()}});
}

class HeadTheoryJob {
 public:
  explicit HeadTheoryJob(const HeadTheoryInput& in)
      : measured_(heads_of(in), in.measure, in.seed) {}

  bool advance(double work) { return measured_.advance(work); }
  double progress() const { return measured_.progress(); }
  HeadTheoryResult result() const {
    return {measured_.values()};
  }

 private:
  static std::vector<std::optional<TracedHead>> heads_of(const HeadTheoryInput& in) {
    const std::size_t count = in.xi.size();
    for (const auto& [name, list] : {std::pair{"eta_s", &in.eta_s}, {"eta_f", &in.eta_f}, {"temperature", &in.temperature}}) {
      if (list->size() != count) throw InvalidArgument(name, "there must be one for every xi");
    }
    std::vector<std::optional<TracedHead>> heads;
    for (std::size_t i = 0; i < count; ++i) {
      heads.push_back(TracedHead{{in.xi[i], in.eta_s[i], in.eta_f[i]}, in.temperature[i]});
    }
    return heads;
  }

  Measured measured_;
};

}  // namespace

const Operation lines_operation = operation<LinesInput, LinesJob>(
    "lines", "One predicted measure on a grid of means and variances",
    "eigenscope lines --means 0.1,0.5 --variances 0.01,0.1,1 --measure entropy --csv");

const Operation head_theory_operation = operation<HeadTheoryInput, HeadTheoryJob>(
    "head-theory", "One predicted measure of heads from their traces, at any length",
    "eigenscope head-theory --xi 16,2 --eta-s 4,4 --eta-f 4,8 --temperature 8,8 --length 128 --csv");

}  // namespace eigenscope
