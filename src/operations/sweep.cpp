// Monte Carlo and theory over a grid of means and variances.
#include "simulation/sweep.h"

#include <optional>

#include "operations/operations.h"
#include "operations/theory_input.h"
#include "operations/theory_result.h"
#include "simulation/gaussian_rows.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

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

}  // namespace

const Operation sweep_operation = operation<SweepInput, SweepJob>(
    "sweep", "Localization, entropy and participation over means and variances",
    "eigenscope sweep --mean 0.25 --variances 0.001,0.01,0.1,1,10 --csv\n"
    "eigenscope sweep --means 0.1,0.5 --variance-min 0.001 --variance-max 10 --count 20 --ensemble "
    "two-point",
    "rows");

}  // namespace eigenscope
