// Latent posterior: softmax attention against the exact posterior of a latent variable, which
// is a prototype (`latent-classes`) or a smooth function of the keys (`latent-values`).
#include "labs/latent_posterior.h"

#include <string>

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct LatentClassesInput : ClassSettings {};

void describe(InputFields& f, LatentClassesInput& s) {
  f.numbers("exponents", kExponent, s.exponents, "exponents tau");
  f.number(kAnisotropy, s.anisotropy);
  f.number(kSignal, s.signal);
  f.choice("norms", s.norms, kKeyNormsNames, "norms of the keys");
  f.number(kRepeats, s.repeats);
  f.number(shared::kSeed, s.seed);
}

struct LatentClassesResult {
  std::vector<ClassRow> rows;
  Estimate posterior;
  Eigen::Index repeats = 0;
};

void describe_class_row(ResultFields& out, const ClassRow& row) {
  out.number("exponent", row.exponent, "exponent tau of W = Sigma^-tau");
  out.number("variance", row.variance, "variance of the eigenvalues of W, whose mean is 1");
  describe(out, "loss", row.loss,
           "cross-entropy of attention with the latent prototype, in nats, at the temperature at "
           "which exponent 1 is the posterior");
  describe(out, "tuned_loss", row.tuned_loss, "the same at the best temperature");
  describe(out, "entropy", row.entropy, "row entropy over log K at the temperature of `loss`");
  describe(out, "shuffled_loss", row.shuffled_loss,
           "`loss` with the same eigenvalues in other directions");
  describe(out, "shuffled_tuned_loss", row.shuffled_tuned_loss, "the same at the best temperature");
}

void describe(ResultFields& out, const LatentClassesResult& result) {
  out.list("rows", result.rows, "one row for each exponent", describe_class_row);
  describe(out, "posterior_loss", result.posterior, "cross-entropy of the exact posterior");
  out.integer("repeats", result.repeats, "draws of prototypes so far");
}

LatentClassesResult latent_classes_result(const LatentClasses& lab) {
  return {lab.rows(), lab.posterior_loss(), lab.done()};
}

struct LatentValuesInput : ValueSettings {};

void describe(InputFields& f, LatentValuesInput& s) {
  f.numbers("lengths", shared::kLength, s.lengths, "numbers of keys T");
  f.number(kAngles, s.angles);
  f.number(kHarmonics, s.harmonics);
  f.number(kRelevant, s.relevant);
  f.number(kSpectrumVariance, s.spectrum_variance);
  f.choice("norms", s.norms, kKeyNormsNames, "norms of the keys");
  f.number(kRepeats, s.repeats);
  f.number(shared::kSeed, s.seed);
}

struct LatentValuesResult {
  std::vector<ValuePoint> points;
  std::vector<ValueLength> lengths;
  LatentValues::Slopes slopes;
  Eigen::Index repeats = 0;
};

void describe_value_point(ResultFields& out, const ValuePoint& point) {
  out.integer("length", point.length, "number of keys T");
  out.number("temperature", point.temperature, "softmax temperature lambda");
  describe(out, "error", point.error, "expected squared error of the attended value at a query");
  out.number("bias", point.bias, "part of the error from the function");
  out.number("variance", point.variance, "part of the error from the noise of the values");
}

void describe_value_length(ResultFields& out, const ValueLength& row) {
  out.integer("length", row.length, "number of keys T");
  out.nullable("best_temperature", row.best_temperature, "temperature with the smallest error");
  out.nullable("best_error", row.best_error, "smallest error over the temperatures");
  describe(out, "posterior_error", row.posterior_error, "error of the exact posterior mean");
  describe(out, "linear_error", row.linear_error,
           "error of linear attention, whose weights are 2 D q.k / T");
  describe(out, "ratio", row.ratio,
           "`best_error` over `posterior_error`; its error by the jackknife over draws");
}

void describe(ResultFields& out, const LatentValuesResult& result) {
  out.list("points", result.points, "one point for each length and temperature",
           describe_value_point);
  out.list("lengths", result.lengths, "one row for each length", describe_value_length);
  describe(out, "temperature_slope", result.slopes.temperature,
           "slope of the logarithm of the best temperature over that of the length; its error by "
           "the jackknife over draws");
  describe(out, "error_slope", result.slopes.error, "slope of the logarithm of `best_error`");
  describe(out, "posterior_slope", result.slopes.posterior,
           "slope of the logarithm of `posterior_error`");
  describe(out, "ratio_slope", result.slopes.ratio, "slope of the logarithm of `ratio`");
  out.integer("repeats", result.repeats, "draws of keys so far");
}

LatentValuesResult latent_values_result(const LatentValues& lab) {
  return {lab.points(), lab.lengths(), lab.slopes(), lab.done()};
}

}  // namespace

const Operation latent_classes_operation =
    operation<LatentClassesInput, JobOf<&latent_classes_result>>(
        "latent-classes",
        "Attention over noisy prototypes against the exact posterior, over W = Sigma^-tau",
        "eigenscope latent-classes --anisotropy 16 --csv", "rows");

const Operation latent_values_operation =
    operation<LatentValuesInput, JobOf<&latent_values_result>>(
        "latent-values",
        "Error of attention to the values of a smooth function, over the temperature",
        "eigenscope latent-values --angles 1 --harmonics 4 --csv", "points");

}  // namespace eigenscope
