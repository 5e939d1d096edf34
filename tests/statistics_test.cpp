// Student's test against tabulated values; bootstrap, jackknife and ranks where
// their results are known.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catch.h"
#include "statistics/bootstrap.h"
#include "statistics/drift.h"
#include "statistics/estimate.h"
#include "statistics/holm.h"
#include "statistics/paired_test.h"
#include "statistics/permuted_correlation.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;

TEST_CASE("Student's law has its tabulated quantiles") {
  // t of 5% and 1%, two-sided, by degrees of freedom.
  CHECK_THAT(student_two_sided(12.706204736, 1), WithinAbs(0.05, 1e-9));
  CHECK_THAT(student_two_sided(4.302652730, 2), WithinAbs(0.05, 1e-9));
  CHECK_THAT(student_two_sided(-3.182446305, 3), WithinAbs(0.05, 1e-9));
  CHECK_THAT(student_two_sided(2.776445105, 4), WithinAbs(0.05, 1e-9));
  CHECK_THAT(student_two_sided(4.032142984, 5), WithinAbs(0.01, 1e-9));
  CHECK_THAT(student_two_sided(2.845339710, 20), WithinAbs(0.01, 1e-9));
  CHECK(student_two_sided(0, 7) == 1);
  // Far out, by the closed forms of 1 and 2 degrees: 2/pi atan(1/t) and 1 - t/sqrt(t^2 + 2).
  CHECK_THAT(student_two_sided(1e12, 1), WithinRel(2 / std::acos(-1.0) * 1e-12, 1e-12));
  CHECK_THAT(student_two_sided(1e9, 2), WithinRel(1e-18, 1e-12));
}

TEST_CASE("Holm's method multiplies the smallest p by the number of tests, and keeps the order") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> found = holm({0.04, none, 0.01, 0.03, 0.9});
  CHECK_THAT(found[2], WithinAbs(0.04, 1e-15));
  CHECK_THAT(found[3], WithinAbs(0.09, 1e-15));
  CHECK_THAT(found[0], WithinAbs(0.09, 1e-15));  // 2 * 0.04 is less than the one before
  CHECK(found[4] == 0.9);
  CHECK(std::isnan(found[1]));
}

TEST_CASE("a share has Wilson's interval") {
  // (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2))/(1 + z^2/n) at 2 of 8.
  const Share some = share_of(2, 8);
  CHECK(some.value == 0.25);
  CHECK_THAT(some.low, WithinAbs(0.0715, 1e-4));
  CHECK_THAT(some.high, WithinAbs(0.5907, 1e-4));
  CHECK_THAT(share_of(0, 10).low, WithinAbs(0, 1e-12));
  CHECK_THAT(share_of(0, 10).high, WithinAbs(0.2775, 1e-4));
  CHECK(std::isnan(share_of(0, 0).value));
}

TEST_CASE("a paired test looks at differences alone") {
  const std::vector<double> b{1, 20, 300, 4000, 50000};
  std::vector<double> a = b;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += static_cast<double>(i) - 1;  // -1 .. 3
  const PairedTest found = paired_t_test(a, b);
  CHECK_THAT(found.difference, WithinAbs(1, 1e-9));
  CHECK_THAT(found.t, WithinAbs(std::sqrt(2.0), 1e-9));
  CHECK_THAT(found.p, WithinAbs(0.230199641, 1e-8));
  CHECK(std::isnan(paired_t_test({1}, {2}).p));
  CHECK(std::isnan(paired_t_test(b, b).p));
  CHECK_THAT(mean_deviation({1, 2, 3, 4}).deviation, WithinAbs(std::sqrt(5.0 / 3), 1e-12));
}

TEST_CASE("a percentile interval interpolates between resampled values") {
  std::vector<double> values(101);
  std::iota(values.rbegin(), values.rend(), 0.0);
  const Interval found = percentile_interval(7, values);
  CHECK(found.value == 7);
  CHECK_THAT(found.low, WithinAbs(2.5, 1e-12));
  CHECK_THAT(found.high, WithinAbs(97.5, 1e-12));
  CHECK(std::isnan(percentile_interval(std::nan(""), values).low));
  CHECK(std::isnan(percentile_interval(7, {}).high));
}

TEST_CASE("a resample has each index equally often, and is one of its seed and number") {
  const std::vector<Eigen::Index> drawn = resample(10000, 3, 4);
  CHECK(drawn == resample(10000, 3, 4));
  CHECK(drawn != resample(10000, 3, 5));
  CHECK(drawn != resample(10000, 4, 4));
  double sum = 0, square = 0;  // of indices over 10000: uniform in [0, 1)
  for (const Eigen::Index index : drawn) {
    CHECK((index >= 0 && index < 10000));
    const double u = static_cast<double>(index) / 10000;
    sum += u / 10000;
    square += u * u / 10000;
  }
  CHECK_THAT(sum, WithinAbs(1.0 / 2, 5 / std::sqrt(12e4)));
  CHECK_THAT(square, WithinAbs(1.0 / 3, 5 * std::sqrt(4.0 / 45e4)));
}

TEST_CASE("the jackknife gives the mean its standard error, and the square of the mean no bias") {
  Eigen::ArrayXXd sums(1, 4);
  sums << 2, 4, 9, 1;  // a row in each group
  const Eigen::ArrayXXd counts = Eigen::ArrayXXd::Ones(1, 4);
  const double variance = (sums - 4).square().sum() / 3;  // of the four values, unbiased
  const Estimate mean = jackknife(sums, counts, 4, [](const Eigen::ArrayXd& p) { return p[0]; });
  CHECK_THAT(mean.value, WithinAbs(4, 1e-12));
  CHECK_THAT(mean.error, WithinAbs(std::sqrt(variance / 4), 1e-12));
  const Estimate square =
      jackknife(sums, counts, 4, [](const Eigen::ArrayXd& p) { return p[0] * p[0]; });
  CHECK_THAT(square.value, WithinAbs(16 - variance / 4, 1e-12));
  const auto nan = [](const Eigen::ArrayXd& p) { return p[0] > 4 ? std::nan("") : p[0]; };
  CHECK(std::isnan(jackknife(sums, counts, 4, nan).value));
}

TEST_CASE("rank correlation of known cases", "[prediction]") {
  const Eigen::VectorXd a = Eigen::Vector4d(1, 2, 2, 4), b = Eigen::Vector4d(1, 3, 2, 4);
  CHECK(rank_correlation(a, Eigen::Vector4d(1, 2.5, 2.5, 4)) == Approx(1));
  CHECK(rank_correlation(a, b) == Approx(4.5 / std::sqrt(4.5 * 5)));
  CHECK(rank_correlation(b, b.array().exp()) == Approx(1));
  CHECK(rank_correlation(b, -b) == Approx(-1));
  CHECK(std::isnan(rank_correlation(b, Eigen::VectorXd::Ones(4))));
  CHECK(std::isnan(rank_correlation(Eigen::VectorXd::Ones(1), Eigen::VectorXd::Ones(1))));
  const RankedPairs pairs(a, b);
  for (const std::vector<Eigen::Index>& drawn : std::vector<std::vector<Eigen::Index>>{
           {0, 1, 2, 3}, {3, 3, 0, 1}, {2, 1, 1, 0, 3, 2}, {1, 3}}) {
    CHECK(pairs.correlation(drawn) == Approx(rank_correlation(a(drawn), b(drawn))).epsilon(1e-14));
  }
  CHECK(std::isnan(pairs.correlation({2, 2, 2})));
  CHECK(std::isnan(pairs.correlation({1})));
}

TEST_CASE("a drift is a change in units of the spread over the heads") {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Eigen::VectorXd before{{1, 3, kNone, 5, 7}}, after{{1.5, 3, 4, kNone, 6}};
  const Drift drift = drift_between(before, after);
  const double spread = std::sqrt(28.0 / 3);  // of 1, 3 and 7
  CHECK_THAT(drift.spread, WithinAbs(spread, 1e-12));
  CHECK_THAT(drift.of_head[0], WithinAbs(0.5 / spread, 1e-12));
  CHECK(drift.of_head[1] == 0);
  CHECK(std::isnan(drift.of_head[2]));
  CHECK(std::isnan(drift.of_head[3]));
  CHECK_THAT(drift.rms, WithinAbs(std::sqrt(1.25 / 3) / spread, 1e-12));
  CHECK_THAT(drift.largest, WithinAbs(1 / spread, 1e-12));
  CHECK(drift.rank_correlation == 1);
  CHECK(std::isnan(drift_between(before.head(1), after.head(1)).spread));
  CHECK(std::isnan(drift_between(Eigen::VectorXd::Ones(3), after.head(3)).rms));
  CHECK_THROWS_AS(drift_between(before, after.head(2)), InvalidArgument);
}

TEST_CASE("a change of a tenth of the spread leaves a correlation of 0.995") {
  const Eigen::MatrixXd draws = random_matrix(20000, 2, 3);
  const Drift drift = drift_between(draws.col(0), draws.col(0) + 0.1 * draws.col(1));
  CHECK_THAT(drift.rms, WithinAbs(0.1, 2e-3));
  // Spearman's of a normal pair: (6 / pi) asin(r / 2).
  CHECK_THAT(drift.rank_correlation,
             WithinAbs(6 / std::acos(-1.0) * std::asin(0.5 / std::sqrt(1.01)), 1e-3));
}

TEST_CASE("the farthest of many correlations exceeds its null as often as it should") {
  constexpr Eigen::Index kRows = 12, kItems = 15;
  constexpr std::uint64_t kTrials = 60;
  int exceeded = 0;
  double one = 0, many = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    std::vector<Eigen::MatrixXd> a;
    std::vector<Eigen::VectorXd> b;
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(kRows);
    for (std::uint64_t group = 0; group < 3; ++group) {
      const Eigen::MatrixXd drawn = random_matrix(kRows + 1, kItems, 100 + 3 * trial + group);
      a.emplace_back(drawn.topRows(kRows));
      b.emplace_back(drawn.row(kRows));
      for (Eigen::Index row = 0; row < kRows; ++row) {
        mean[row] += rank_correlation(a.back().row(row), b.back()) / 3;
      }
    }
    const double limit = farthest_null(a, b, trial);
    exceeded += mean.cwiseAbs().maxCoeff() > limit;
    many += limit;
    for (Eigen::MatrixXd& rows : a) rows.conservativeResize(1, Eigen::NoChange);
    one += farthest_null(a, b, trial);
  }
  // Binomial with 60 trials of 5%: more than 9 in one of 1,500 cases, none in one of 20.
  CHECK(exceeded <= 9);
  CHECK(exceeded >= 1);
  CHECK(many > 1.2 * one);
  // One row: the two-sided 5% limit of a correlation of 15 ranks, 0.521, for a mean of three.
  CHECK_THAT(one / kTrials, WithinAbs(0.521 / std::sqrt(3.0), 0.02));
  // Equal orders: every permutation that is not the identity is less.
  const Eigen::MatrixXd order = Eigen::RowVectorXd::LinSpaced(8, 1, 8);
  CHECK(farthest_null({order}, {order.transpose()}, 1) < 0.9);
}

TEST_CASE("a partial correlation is that of residuals, information that of a Gaussian copula") {
  const Eigen::MatrixXd drawn = random_matrix(3, 40, 5);
  Eigen::MatrixXd x = drawn;
  x.row(0) += drawn.row(2);
  x.row(1) -= 0.5 * drawn.row(2);
  x.colwise() -= x.rowwise().mean().eval();
  const auto correlation = [](const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
    return a.dot(b) / (a.norm() * b.norm());
  };
  const Eigen::VectorXd a = x.row(0), b = x.row(1), c = x.row(2);
  const Eigen::VectorXd rest_a = a - a.dot(c) / c.squaredNorm() * c,
                        rest_b = b - b.dot(c) / c.squaredNorm() * c;
  CHECK_THAT(partial_correlation(correlation(a, b), correlation(a, c), correlation(b, c)),
             WithinAbs(correlation(rest_a, rest_b), 1e-12));

  CHECK(copula_information(0) == 0);
  CHECK(copula_information(-0.9999) > 6);
  // Of a bivariate normal distribution with r = 1/2: rho = 6/pi asin(1/4).
  const double rho = 6 / std::acos(-1.0) * std::asin(0.25);
  CHECK_THAT(copula_information(-rho), WithinAbs(-std::log2(0.75) / 2, 1e-12));
}
