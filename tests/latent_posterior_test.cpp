#include "labs/latent_posterior.h"

#include <cmath>

#include "catch.h"

using namespace eigenscope;

namespace {

LatentClasses all_classes(const ClassSettings& settings) {
  LatentClasses lab(settings);
  while (!lab.advance()) continue;
  return lab;
}

LatentValues all_values(const ValueSettings& settings) {
  LatentValues lab(settings);
  while (!lab.advance()) continue;
  return lab;
}

}  // namespace

TEST_CASE("attention with W = Sigma^-1 is the exact posterior, and no other exponent is as good") {
  ClassSettings settings;
  settings.exponents = {0, 0.5, 1, 1.5};
  settings.repeats = 4;
  const LatentClasses lab = all_classes(settings);
  const std::vector<ClassRow> rows = lab.rows();
  CHECK(rows[2].loss.value == Approx(lab.posterior_loss().value).epsilon(1e-12));
  CHECK(rows[0].variance == Approx(0).margin(1e-15));
  for (const ClassRow& row : rows) {
    if (row.exponent != 1) CHECK(row.tuned_loss.value > rows[2].loss.value + 0.01);
    CHECK(row.tuned_loss.value <= row.loss.value + 1e-9);
    CHECK(row.shuffled_tuned_loss.value <= row.shuffled_loss.value + 1e-9);
  }
  // Equal eigenvalues have no directions.
  CHECK(rows[0].shuffled_loss.value == rows[0].loss.value);
  CHECK(rows[2].shuffled_tuned_loss.value > rows[0].tuned_loss.value);
}

TEST_CASE("isotropic noise makes every exponent the posterior") {
  ClassSettings settings;
  settings.anisotropy = 1;
  settings.exponents = {0, 2};
  settings.repeats = 2;
  const LatentClasses lab = all_classes(settings);
  for (const ClassRow& row : lab.rows()) {
    CHECK(row.loss.value == Approx(lab.posterior_loss().value).epsilon(1e-12));
    CHECK(row.variance == Approx(0).margin(1e-15));
  }
}

TEST_CASE("keys of unequal norm need half their squared norm subtracted to give the posterior") {
  ClassSettings settings;
  settings.exponents = {1};
  settings.repeats = 3;
  settings.norms = KeyNorms::unequal;
  const LatentClasses plain = all_classes(settings);
  CHECK(plain.rows()[0].tuned_loss.value > plain.posterior_loss().value + 0.1);
  settings.norms = KeyNorms::corrected;
  const LatentClasses corrected = all_classes(settings);
  CHECK(corrected.rows()[0].loss.value == Approx(corrected.posterior_loss().value).epsilon(1e-12));
}

TEST_CASE("a constant function is best read by uniform attention, which is nearly the posterior") {
  ValueSettings settings;
  settings.harmonics = 0;
  settings.lengths = {64, 256};
  const LatentValues lab = all_values(settings);
  for (const ValueLength& row : lab.lengths()) {
    const auto keys = static_cast<double>(row.length);
    CHECK(row.best_temperature == Approx(10));  // the hottest that is tried
    CHECK(row.best_error == Approx(0.25 / keys).epsilon(0.01));
    // Of a normal prior of variance 1 and noise of variance 1/4.
    CHECK(row.posterior_error.value == Approx(1 / (1 + keys / 0.25)).epsilon(1e-10));
  }
  CHECK(std::isnan(lab.slopes().temperature.value));
  CHECK(lab.slopes().error.value == Approx(-1).epsilon(0.01));
}

TEST_CASE("at a low temperature attention reads the nearest key, with all of its noise") {
  ValueSettings settings;
  settings.lengths = {256};
  const ValuePoint coldest = all_values(settings).points().front();
  CHECK(coldest.variance < 0.25);
  CHECK(coldest.variance > 0.05);
  CHECK(coldest.bias < 0.02);
}

TEST_CASE("no attention is better than the exact posterior") {
  for (const Eigen::Index angles : {1, 3}) {
    for (const Eigen::Index harmonics : {1, 4}) {
      ValueSettings settings;
      settings.angles = angles;
      settings.harmonics = harmonics;
      settings.lengths = {16, 128};
      const LatentValues lab = all_values(settings);
      for (const ValueLength& row : lab.lengths()) {
        CHECK(row.best_error > row.posterior_error.value);
        CHECK(row.linear_error.value > row.posterior_error.value);
      }
      for (const ValuePoint& point : lab.points()) {
        CHECK(point.error.value == Approx(point.bias + point.variance).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("linear attention reads linear functions better than softmax attention, and only these") {
  ValueSettings settings;
  settings.lengths = {1024};
  settings.harmonics = 1;
  const ValueLength linear = all_values(settings).lengths().front();
  CHECK(linear.linear_error.value < linear.best_error);
  settings.harmonics = 4;
  const ValueLength curved = all_values(settings).lengths().front();
  CHECK(curved.linear_error.value > 3 * curved.best_error);
}

TEST_CASE("the error over that of the posterior has the jackknife's error, and its slope") {
  ValueSettings settings;
  settings.harmonics = 1;
  settings.lengths = {16, 256};
  settings.repeats = 6;
  const LatentValues lab = all_values(settings);
  const std::vector<ValueLength> lengths = lab.lengths();
  for (const ValueLength& row : lengths) {
    CHECK(row.ratio.value == Approx(row.best_error / row.posterior_error.value).epsilon(1e-12));
    CHECK(row.ratio.error > 0);
    CHECK(row.ratio.error < row.ratio.value);
  }
  const LatentValues::Slopes slopes = lab.slopes();
  CHECK(slopes.ratio.value == Approx(slopes.error.value - slopes.posterior.value).epsilon(1e-12));
  CHECK(slopes.ratio.value ==
        Approx(std::log(lengths[1].ratio.value / lengths[0].ratio.value) / std::log(16.0)));
  CHECK(slopes.ratio.error > 0);
}

TEST_CASE("variance of the spectrum on the relevant angle lowers the error") {
  ValueSettings settings;
  settings.angles = 4;
  settings.relevant = 1;
  settings.lengths = {256};
  const double none = all_values(settings).lengths().front().best_error;
  settings.spectrum_variance = 3;
  const double all = all_values(settings).lengths().front().best_error;
  CHECK(all < 0.2 * none);
  settings.relevant = 4;
  CHECK(all_values(settings).lengths().front().best_error > none);
  settings.spectrum_variance = 3.1;
  CHECK_THROWS_WITH(LatentValues(settings),
                    ContainsSubstring("at most the number of angles minus 1"));
}

TEST_CASE("all norms are equal, or the same draws with other norms") {
  ValueSettings settings;
  settings.lengths = {256};
  const auto error = [&](KeyNorms norms) {
    settings.norms = norms;
    return all_values(settings).lengths().front().best_error;
  };
  const double equal = error(KeyNorms::equal), unequal = error(KeyNorms::unequal);
  CHECK(unequal > 3 * equal);
  CHECK(error(KeyNorms::corrected) < unequal / 3);
}
