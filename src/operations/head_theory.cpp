// A predicted measure of many heads from their traces: on a grid of settings (`lines`), or of given
// heads (`head-theory`).
#include "simulation/head_theory.h"

#include "operations/operations.h"
#include "operations/theory_fields.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

struct MeasureInput {
  TheoryMeasure measure = TheoryMeasure::localization;
  TokensInput tokens;
  QueryInput query;
  Eigen::Index samples = 0;

  HeadTheorySettings settings(std::uint64_t seed) const {
    const TokenProcess process = tokens.process();
    return {measure, process, query.range(process), samples, seed};
  }
};

void describe(InputFields& f, MeasureInput& in) {
  f.choice("measure", in.measure, kTheoryMeasureNames,
           "localization or the mean of rho in closed form, or a measure of the exact softmax");
  describe(f, in.tokens);
  describe(f, in.query);
  f.number(shared::kSamples, in.samples, "rows drawn per head for a measure of the exact softmax");
}

void describe_values(ResultFields& out, const HeadTheoryValues& values, Shape shape) {
  out.array("value", values.value, shape, "the measure; NaN where the ensemble does not exist");
  out.array("error", values.error, shape, "its standard error; 0 in closed form");
  out.choices("regime", values.regime, kRegimeNames, shape, "keys with a large rho");
}

struct LinesInput {
  EnsembleInput ensemble;
  std::vector<double> means, variances;
  double temperature = 0;
  MeasureInput measure;
};

void describe(InputFields& f, LinesInput& in) {
  describe(f, in.ensemble);
  f.numbers("means", shared::kMean, in.means, "means of the grid");
  f.numbers("variances", shared::kVariance, in.variances, "variances of the grid");
  f.number(shared::kTemperature, in.temperature);
  describe(f, in.measure);
}

struct LinesResult {
  Eigen::VectorXd mean, variance;
  HeadTheoryValues values;
};

void describe(ResultFields& out, const LinesResult& lines) {
  const Dimension mean{"mean", lines.mean.size()}, variance{"variance", lines.variance.size()};
  out.array("mean", lines.mean, {mean}, "means of the grid");
  out.array("variance", lines.variance, {variance}, "variances of the grid");
  describe_values(out, lines.values, {mean, variance});
}

const LinesInput& with_points(const LinesInput& in) {
  if (in.means.empty()) throw InvalidArgument("means", "have at least one number");
  if (in.variances.empty()) throw InvalidArgument("variances", "have at least one number");
  return in;
}

class LinesJob {
 public:
  explicit LinesJob(const LinesInput& in)
      : in_(with_points(in)),
        theory_(heads_on_grid(in.ensemble.settings(), in.means, in.variances, in.temperature),
                in.measure.settings(in.ensemble.seed)) {}

  bool advance(double work) { return advance_by_work(theory_, work); }
  double progress() const { return progress_of(theory_); }
  LinesResult result() const {
    return {vector_of(in_.means), vector_of(in_.variances), theory_.values()};
  }

 private:
  LinesInput in_;
  TracedHeadTheory theory_;
};

struct HeadTheoryInput {
  std::vector<double> xi, eta_s, eta_f, temperature;
  std::uint64_t seed = 0;
  MeasureInput measure;

  TracedHeadTheory begin() const {
    const std::size_t count = xi.size();
    for (const auto& [name, list] :
         {std::pair{"eta_s", &eta_s}, {"eta_f", &eta_f}, {"temperature", &temperature}}) {
      if (list->size() != count) throw InvalidArgument(name, "have one for every xi");
    }
    std::vector<std::optional<TracedHead>> heads;
    for (std::size_t i = 0; i < count; ++i) {
      heads.push_back(TracedHead{{xi[i], eta_s[i], eta_f[i]}, temperature[i]});
    }
    return {heads, measure.settings(seed)};
  }
};

void describe(InputFields& f, HeadTheoryInput& in) {
  f.numbers("xi", shared::kXi, in.xi, "xi of each head");
  f.numbers("eta_s", shared::kEtaS, in.eta_s, "eta_S of each head");
  f.numbers("eta_f", shared::kEtaF, in.eta_f, "eta_F of each head");
  f.numbers("temperature", shared::kTemperature, in.temperature,
            "softmax temperature of each head");
  f.number(shared::kSeed, in.seed);
  describe(f, in.measure);
}

struct HeadTheoryResult {
  HeadTheoryValues values;
};

void describe(ResultFields& out, const HeadTheoryResult& result) {
  describe_values(out, result.values, {{"head", result.values.value.size()}});
}

HeadTheoryResult head_theory_result(const TracedHeadTheory& theory) { return {theory.values()}; }

}  // namespace

const Operation lines_operation = operation<LinesInput, LinesJob>(
    "lines", "One predicted measure on a grid of means and variances",
    "eigenscope lines --means 0.1,0.5 --variances 0.01,0.1,1 --measure entropy --csv");

const Operation head_theory_operation = operation<HeadTheoryInput, JobOf<&head_theory_result>>(
    "head-theory", "One predicted measure of heads from their traces, at any length",
    "eigenscope head-theory --xi 16,2 --eta-s 4,4 --eta-f 4,8 --temperature 8,8 --length 128 "
    "--csv");

}  // namespace eigenscope
