#include "support/random.h"

#include <cmath>
#include <vector>

#include "catch.h"
#include "support/decompositions.h"
#include "support/vector_math.h"
#include "test_matrices.h"

using namespace eigenscope;

namespace {

std::vector<float> draws(std::uint64_t seed, std::uint64_t stream, std::size_t count) {
  std::vector<float> out(count);
  NormalStream(seed, stream).fill(out);
  return out;
}

}  // namespace

TEST_CASE("a seed gives the same bits on every platform") {
  // Recorded once: natively, under the sanitizers and as WASM they must come out exactly.
  const std::vector<float> first = draws(1, 0, 4);
  CHECK(first ==
        std::vector<float>{-0x1.09053p-1f, -0x1.ed09ap-1f, 0x1.d41c78p-6f, -0x1.311426p+1f});
  const std::vector<float> other = draws(9007199254740991u, 7, 4);
  CHECK(other == std::vector<float>{0x1.a38df2p-2f, 0x1.a2051ep-1f, 0x1.b3b17p-1f, 0x1.b8c796p-2f});
}

TEST_CASE("streams differ, a shorter fill is a prefix of a longer one") {
  const auto a = draws(5, 0, 100);
  CHECK(a != draws(5, 1, 100));
  CHECK(a != draws(6, 0, 100));
  const auto shorter = draws(5, 0, 37);
  CHECK(std::equal(shorter.begin(), shorter.end(), a.begin()));
}

TEST_CASE("the numbers are standard normal and uncorrelated") {
  constexpr std::size_t n = 400000;
  const auto x = draws(11, 3, n);
  double power[5] = {}, lagged[3] = {}, above_two = 0;
  const std::size_t lags[3] = {1, 8, 16};
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 1; k <= 4; ++k) power[k] += std::pow(double(x[i]), k) / n;
    for (int l = 0; l < 3; ++l) lagged[l] += x[i] * x[(i + lags[l]) % n] / n;
    above_two += (x[i] > 2) / double(n);
  }
  const double error = 1 / std::sqrt(double(n));  // of a mean of numbers with variance 1
  CHECK_THAT(power[1], WithinAbs(0, 4 * error));
  CHECK_THAT(power[2], WithinAbs(1, 4 * std::sqrt(2.0) * error));
  CHECK_THAT(power[3], WithinAbs(0, 4 * std::sqrt(15.0) * error));
  CHECK_THAT(power[4], WithinAbs(3, 4 * std::sqrt(96.0) * error));
  CHECK_THAT(above_two, WithinAbs(0.022750132, 4 * std::sqrt(0.0223) * error));
  for (const double correlation : lagged) CHECK_THAT(correlation, WithinAbs(0, 4 * error));
}

TEST_CASE("elementary functions agree with the standard library") {
  for (int i = 1; i < 20000; ++i) {
    const float u = float(i) / 20000;
    CHECK_THAT(log_unit(u), WithinAbs(std::log(double(u)), 4e-7 * (1 - std::log(double(u)))));
    const double v = std::pow(double(u), 1 + i % 40);
    CHECK_THAT(log_unit(v), WithinRel(std::log(v), 4e-16));
    CHECK_THAT(sin_quarter(u - 0.5f), WithinAbs(std::sin(1.5707963267948966 * (u - 0.5f)), 4e-7));
    CHECK_THAT(cos_quarter(u - 0.5f), WithinAbs(std::cos(1.5707963267948966 * (u - 0.5f)), 4e-7));
    const float x = -87 * u;
    CHECK_THAT(exp_nonpositive(x), WithinRel(std::exp(double(x)), 4e-7));
    const double y = -700.0 * u;
    CHECK_THAT(exp_nonpositive(y), WithinRel(std::exp(y), 4e-16));
  }
  CHECK(log_unit(1.0) == 0);
  CHECK_THAT(log_unit(std::numeric_limits<double>::min()),
             WithinRel(std::log(std::numeric_limits<double>::min()), 4e-16));
  CHECK(exp_nonpositive(0.0f) == 1);
  CHECK(exp_nonpositive(-1e30f) == 0);
  CHECK(exp_nonpositive(0.0) == 1);
  CHECK(exp_nonpositive(-1e300) == 0);
}

TEST_CASE("orthonormal columns span those of a matrix, and R has a positive diagonal") {
  for (const Eigen::Index columns : {1, 5, 60}) {
    CAPTURE(columns);
    const Eigen::MatrixXd matrix = random_matrix(60, columns, 3);
    const Eigen::MatrixXd q = orthonormal_columns(matrix);
    const Eigen::MatrixXd r = q.transpose() * matrix;
    CHECK(largest(q.transpose() * q - Eigen::MatrixXd::Identity(columns, columns)) < 1e-13);
    CHECK(largest(q * r - matrix) < 1e-13);
    CHECK(largest(Eigen::MatrixXd(r.triangularView<Eigen::StrictlyLower>())) < 1e-13);
    CHECK((r.diagonal().array() > 0).all());
  }
}
