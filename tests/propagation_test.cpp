#include "propagation/propagation.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "paths.h"
#include "propagation/phase_map.h"
#include "spectrum/ensemble.h"
#include "support/decompositions.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

TokenProcess walk(Index length) { return token_process("random-walk", length, 0); }

VectorXd vector_of(const nlohmann::json& json) {
  const auto numbers = json.get<std::vector<double>>();
  return Eigen::Map<const VectorXd>(numbers.data(), static_cast<Index>(numbers.size()));
}

double largest_difference(const VectorXd& a, const VectorXd& b) {
  REQUIRE(a.size() == b.size());
  return largest(a - b);
}

// The closed form of logit_law for the free random walk (kernel min(s, t)), query at T:
// mean_i = xi (i - (T+1)/2),
// std_i^2 = eta_F T [i - i(2T-i+1)/T + (T+1)(2T+1)/(6T)] + eta_S (i - (T+1)/2)^2.
LogitLaw walk_law(Index length, const Traces& traces) {
  const auto t = static_cast<double>(length);
  const Eigen::ArrayXd i = Eigen::ArrayXd::LinSpaced(length, 1, t);
  const Eigen::ArrayXd offset = i - (t + 1) / 2;
  const Eigen::ArrayXd token = i - i * (2 * t - i + 1) / t + (t + 1) * (2 * t + 1) / (6 * t);
  return {(traces.xi * offset).matrix(),
          (traces.eta_f * t * token + traces.eta_s * offset.square()).max(0.0).sqrt().matrix()};
}

// Localization of the free walk and a symmetric W with eigenvalue mean m and variance v.
double walk_localization(Index length, double width, double mean, double variance,
                         double temperature) {
  const double eta = width * (variance + mean * mean);
  return propagate(centred_kernel(walk(length)), {width * mean, eta, eta}, temperature)
      .localization;
}

}  // namespace

TEST_CASE("the worked cases of the free random walk to 1e-9") {
  const auto cases = testing::reference("propagation.json");
  REQUIRE(cases.size() == 7);
  for (const auto& c : cases) {
    const Traces traces{c["xi"], c["eta_s"], c["eta_f"]};
    const Propagation found =
        propagate(centred_kernel(walk(c["T"])), traces, c["temperature"].get<double>());
    CHECK(largest_difference(found.law.mean, vector_of(c["mean"])) < 1e-9);
    CHECK(largest_difference(found.law.std, vector_of(c["std"])) < 1e-9);
    CHECK(largest_difference(found.rho, vector_of(c["rho"])) < 1e-9);
    CHECK_THAT(found.localization, WithinAbs(c["localization"].get<double>(), 1e-9));
  }
}

TEST_CASE("the general kernel formulas equal the closed forms of the free walk") {
  for (const Index length : {2, 3, 17, 128, 500}) {
    for (const Traces& traces : {Traces{1.5, 0.7, 0.7}, {-3, -0.5, 2}, {0, 0, 1}, {4, 0, 0}}) {
      const LogitLaw general = logit_law(centred_kernel(walk(length)), traces);
      const LogitLaw closed = walk_law(length, traces);
      const double scale = 1e-12 * static_cast<double>(length * length);
      CHECK(largest_difference(general.mean, closed.mean) < scale);
      CHECK(largest_difference(general.std.array().square().matrix(),
                               closed.std.array().square().matrix()) < scale);
    }
  }
}

TEST_CASE("the free walk tends to its continuum limit") {
  const Index length = 2000;
  const auto t = static_cast<double>(length);
  const Traces traces{0, 0.3, 0.9};
  const VectorXd variance =
      logit_law(centred_kernel(walk(length)), traces).std.array().square() / (t * t);
  for (Index i = 0; i < length; i += 97) {
    const double theta = static_cast<double>(i + 1) / t;
    const double limit = traces.eta_f * (theta * theta - theta + 1.0 / 3) +
                         traces.eta_s * (theta - 0.5) * (theta - 0.5);
    CHECK_THAT(variance[i], WithinAbs(limit, 2 / t));
  }
}

TEST_CASE("a causal query sees the same law as the last query of a shorter free walk") {
  const Traces traces{1.2, -0.4, 0.9};
  const LogitLaw early = logit_law(centred_kernel(walk(40), 15), traces);
  const LogitLaw shorter = logit_law(centred_kernel(walk(15)), traces);
  CHECK(largest_difference(early.mean, shorter.mean) < 1e-12);
  CHECK(largest_difference(early.std, shorter.std) < 1e-12);
  CHECK_THROWS_WITH(centred_kernel(walk(40), 41), StartsWith("query must ") && EndsWith(" 41"));
  CHECK_THROWS_WITH(centred_kernel(walk(40), 0), ContainsSubstring("from 1 to 40"));
}

TEST_CASE("what is known of each token process holds at every length and correlation") {
  std::set<double> powers;
  int correlated = 0;
  for (const TokenKernel& kernel : token_kernels()) {
    CAPTURE(kernel.name);
    const double power = last_variance_power(kernel);
    powers.insert(power);
    for (const double length : {2.0, 7.0, 300.0}) {
      for (const double a : {0.0, 0.9}) {
        CHECK(kernel.covariance(length, length, length, a) ==
              Approx(std::pow(length, power)).epsilon(1e-12));
      }
    }
    const bool differs = kernel.covariance(3, 7, 9, 0.2) != kernel.covariance(3, 7, 9, 0.8);
    CHECK(depends_on_correlation(kernel) == differs);
    correlated += differs;
  }
  CHECK(powers == std::set<double>{0, 1});
  CHECK(correlated == 1);
}

TEST_CASE("the kernels of a range of queries are those of its queries one by one") {
  for (const TokenKernel& kernel : token_kernels()) {
    const TokenProcess process = token_process(kernel.name, 30, 0.7);
    const std::vector<CentredKernel> range = centred_kernels(process, causal_queries(process));
    REQUIRE(range.size() == 29);
    for (Index q = 2; q <= 30; ++q) {
      const CentredKernel one = centred_kernel(process, q);
      const CentredKernel& found = range[static_cast<std::size_t>(q - 2)];
      CHECK(found.query_variance == one.query_variance);
      CHECK(largest_difference(found.variance, one.variance) < 1e-12);
      CHECK(largest_difference(found.cross, one.cross) < 1e-12);
    }
    const std::vector<CentredKernel> last = centred_kernels(process, {});
    REQUIRE(last.size() == 1);
    CHECK(last.front().cross == centred_kernel(process).cross);
  }
  CHECK_THROWS_WITH(centred_kernels(walk(40), {1, 40}),
                    StartsWith("query must ") && EndsWith(" 1"));
  CHECK_THROWS_WITH(centred_kernels(walk(40), {2, 41}), ContainsSubstring("from 2 to 40"));
  CHECK_THROWS_WITH(centred_kernels(walk(40), {9, 8}), StartsWith("query must ") && EndsWith(" 9"));
}

TEST_CASE("the profile of several queries is the mean over those that see the key") {
  const Traces traces{3, 0.2, 0.5};
  const TokenProcess process = token_process("ar1", 12, 0.8);
  const Propagation all = propagate(centred_kernels(process, {5, 12}), traces, 1);
  VectorXd rho = VectorXd::Zero(12), mean = rho, square = rho, seen = rho;
  for (Index q = 5; q <= 12; ++q) {
    const Propagation one = propagate(centred_kernel(process, q), traces, 1);
    rho.head(q) += one.rho;
    mean.head(q) += one.law.mean;
    square.head(q).array() += one.law.mean.array().square() + one.law.std.array().square();
    seen.head(q).array() += 1;
  }
  CHECK(largest_difference(all.rho, rho.cwiseQuotient(seen)) < 1e-14);
  CHECK(largest_difference(all.law.mean, mean.cwiseQuotient(seen)) < 1e-14);
  const VectorXd deviation = (square.array() / seen.array() - all.law.mean.array().square()).sqrt();
  CHECK(largest_difference(all.law.std, deviation) < 1e-14);
  CHECK(all.localization == localization_index(all.rho));
  CHECK(all.rho_mean == all.rho.mean());
}

TEST_CASE("the query of a sample visits a range evenly") {
  const QueryRange range{2, 48};
  std::vector<int> visits(49);
  for (std::uint64_t k = 0; k < 4700; ++k) {
    const Index query = range.of_sample(k);
    REQUIRE((query >= 2 && query <= 48));
    ++visits[static_cast<std::size_t>(query)];
  }
  for (std::size_t q = 2; q <= 48; ++q) CHECK(std::abs(visits[q] - 100) <= 3);
  CHECK((QueryRange{7, 7}.of_sample(123) == 7));
}

TEST_CASE("localized, uniform and alive, uniform and dead are three places") {
  const CentredKernel kernel = centred_kernel(walk(48));
  const auto at = [&](double mean, double variance) {
    const double eta = 64 * (variance + mean * mean);
    return propagate(kernel, {64 * mean, eta, eta}, 8);
  };
  CHECK(at(0.25, 0.001).signal == Signal::localized);
  CHECK(at(0, 1e-6).signal == Signal::alive);
  CHECK(at(0.25, 30).signal == Signal::dead);
  // Both have an index near 0, and only the level tells them apart.
  CHECK(at(0, 1e-6).regime == Regime::uniform);
  CHECK(at(0.25, 30).regime == Regime::uniform);
  CHECK(signal_of(std::nan(""), 0) == Signal::none);
  CHECK(signal_of(kUniformBelow, 0.01) == Signal::localized);
}

TEST_CASE("the mean of rho is 1/2 while the logits are wide but not yet at the upper clip") {
  // T = 2000 independent keys, eta_S = 0: only the clip at 0 is near.
  const CentredKernel kernel = centred_kernel(token_process("ar1", 2000, 0));
  CHECK_THAT(propagate(kernel, {0, 0, 900}, 1).rho_mean, WithinAbs(0.5, 0.02));
  // Above, it falls as 1/sqrt(v).
  const double wide = propagate(kernel, {0, 0, 1e12}, 1).rho_mean;
  CHECK_THAT(propagate(kernel, {0, 0, 1e14}, 1).rho_mean / wide, WithinRel(0.1, 0.001));
}

namespace {

// L as a matrix, column by column.
Eigen::MatrixXd dense(const KernelFactor& factor) {
  Eigen::MatrixXd columns = Eigen::MatrixXd::Identity(factor.length(), factor.length());
  for (auto column : columns.colwise()) factor.multiply(column);
  return columns;
}

}  // namespace

TEST_CASE("the factor of every kernel reproduces it") {
  REQUIRE_FALSE(token_kernels().empty());
  for (const TokenKernel& kernel : token_kernels()) {
    for (const Index length : {2, 33}) {
      const TokenProcess process = token_process(kernel.name, length, 0.7);
      const KernelFactor factor(process);
      const Eigen::MatrixXd l = dense(factor);
      CHECK(largest(l * l.transpose() - kernel_matrix(process)) < 1e-12);
      CHECK(largest_difference(factor.row(length - 1), l.row(length - 1)) < 1e-13);
      CHECK(largest_difference(factor.row(1), l.row(1).head(2)) < 1e-13);
      const KernelFactor part(process, 2);
      CHECK(part.length() == 2);
      CHECK(largest(dense(part) - l.topLeftCorner(2, 2)) < 1e-13);
    }
  }
  const KernelFactor nearly_equal(token_process("ar1", 200, 1 - 1e-12));
  CHECK(dense(nearly_equal).col(0).isApprox(VectorXd::Ones(200), 1e-9));
  CHECK_THROWS_WITH(token_process("levy", 8, 0), ContainsSubstring("normalized-walk"));
  CHECK_THROWS_WITH(token_process("ar1", 8, 1), StartsWith("correlation must ") && EndsWith(" 1"));
}

TEST_CASE("a kernel that is not Markov gets its Cholesky factor, one without a factor is refused") {
  const TokenKernel smooth{
      {"smooth", "smooth"}, "exp(-(s-t)^2/2)", [](double s, double t, double, double) {
        return std::exp(-(s - t) * (s - t) / 2);
      }};
  const TokenProcess process{&smooth, 0, 12};
  const KernelFactor factor(process);
  const Eigen::MatrixXd l = dense(factor);
  CHECK(largest(l * l.transpose() - kernel_matrix(process)) < 1e-12);
  CHECK(largest_difference(factor.row(11), l.row(11)) < 1e-13);
  VectorXd few = VectorXd::Ones(5);
  factor.multiply(few);
  CHECK(largest_difference(few, l.topLeftCorner(5, 5).rowwise().sum()) < 1e-13);
  const TokenKernel odd{{"odd", "odd"}, "1 - 2 [s = t]", [](double s, double t, double, double) {
                          return s == t ? -1.0 : 1.0;
                        }};
  CHECK_THROWS_WITH(KernelFactor({&odd, 0, 4}), StartsWith("tokens must ") && EndsWith(" odd"));
}

TEST_CASE("normal intervals keep their relative precision in the tails") {
  CHECK_THAT(normal_interval(0, 1, -1, 1), WithinRel(0.6826894921370859, 1e-14));
  CHECK_THAT(normal_interval(0, 1, 10, 11), WithinRel(7.619661958e-24, 1e-8));
  CHECK_THAT(normal_interval(0, 1, -11, -10), WithinRel(7.619661958e-24, 1e-8));
  CHECK_THAT(normal_interval(30, 1, 0, 1), WithinRel(normal_interval(0, 1, 29, 30), 1e-12));
  CHECK(normal_interval(0.5, 0, 0, 1) == 1);
  CHECK(normal_interval(0, 0, 0, 1) == 0);  // the boundary does not propagate
}

TEST_CASE("the localization index is 0 for equal weights, 1 - 1/T for one, and scale free") {
  CHECK(localization_index(VectorXd::Constant(9, 0.3)) == Approx(0).margin(1e-15));
  CHECK(localization_index(VectorXd::Unit(8, 3)) == Approx(1 - 1.0 / 8));
  // (1e-9)^2 8/9 over 9 (0.3)^2: no rounding of 1 - S^2/(T S_2).
  CHECK(localization_index(VectorXd::Constant(9, 0.3) + 1e-9 * VectorXd::Unit(9, 2)) ==
        Approx(1e-18 * 8 / 9 / 0.81).epsilon(1e-6));
  const VectorXd w = random_matrix(20, 1, 1).cwiseAbs();
  CHECK(localization_index(w) == Approx(localization_index(1e-200 * w)));
  CHECK(std::isnan(localization_index(VectorXd::Zero(4))));
  CHECK(regime_of(VectorXd::Zero(4)) == Regime::none);
}

TEST_CASE("regimes follow the mean of the spectrum") {
  const CentredKernel kernel = centred_kernel(walk(64));
  const auto regime = [&](double xi, double eta) {
    return propagate(kernel, {xi, eta, eta}, 1).regime;
  };
  CHECK(regime(0, 1) == Regime::uniform);
  CHECK(regime(1, 0.02) == Regime::late);
  CHECK(regime(8, 0.3) == Regime::middle);
  CHECK(regime(-1, 0.02) == Regime::early);
  CHECK(regime(1, 1e4) == Regime::uniform);
}

TEST_CASE("localization falls as the variance grows, where the theory says so") {
  constexpr Index length = 64;
  constexpr double width = 64, temperature = 8;
  for (const double ratio : {0.1, 0.5, 1.0, 2.0, 4.0}) {  // xi/lambda, all above 2/(T-1)
    const double mean = ratio * temperature / width;
    // Until the logits' spread nears the upper clip: s ~ T sqrt(eta (1/3 + 1/4)) <= lambda (T-1).
    const double largest = temperature * temperature / width;
    double last = walk_localization(length, width, mean, 0, temperature);
    const double first = last;
    CHECK(first > 0.05);
    for (double variance = 1e-6 * largest; variance < 0.5 * largest; variance *= 1.3) {
      const double now = walk_localization(length, width, mean, variance, temperature);
      INFO("xi/lambda " << ratio << " variance " << variance);
      CHECK(now <= last + 1e-12);
      last = now;
    }
    CHECK(last < (ratio < 1 ? 0.5 : 0.9) * first);
  }
}

TEST_CASE("below xi/lambda = 2/(T-1) the claim fails: localization starts at 0 and rises") {
  constexpr Index length = 64;
  const double mean = 0.5 * 2.0 / (length - 1) * 8 / 64;
  double last = 0;
  for (const double variance : {1e-9, 1e-5, 1e-4, 3e-4, 1e-3}) {
    const double now = walk_localization(length, 64, mean, variance, 8);
    INFO("variance " << variance);
    if (variance == 1e-9) {
      CHECK(now < 1e-9);
    } else {
      CHECK(now > last);
    }
    last = now;
  }
  CHECK(last > 0.01);
}

// The index of 1/s for the walk as T grows, with eta_S/eta_F = `ratio` in [-1, 1]: s^2 is proportional to
// 1 + 4 c u^2 at u = i/T - 1/2, where c = 3 (1 + ratio).
double large_variance_limit(double ratio) {
  const double root = std::sqrt(3 * (1 + ratio));
  if (root == 0) return 0;
  return 1 - std::pow(std::asinh(root), 2) / (root * std::atan(root));
}

TEST_CASE("for a very large variance localization tends to a closed form, whatever the mean") {
  CHECK_THAT(large_variance_limit(1), WithinAbs(0.08517, 5e-6));
  CHECK_THAT(large_variance_limit(0), WithinAbs(0.0438, 5e-5));
  for (const char* process : {"random-walk", "normalized-walk"}) {
    for (const Index length : {8, 24, 64, 1024}) {
      const CentredKernel kernel = centred_kernel(token_process(process, length, 0));
      for (const double ratio : {-1.0, -0.5, 0.0, 0.4, 1.0}) {
        for (const double xi : {0.0, 6.4, 32.0}) {
          INFO(process << " T " << length << " eta_S/eta_F " << ratio << " xi " << xi);
          const double found = propagate(kernel, {xi, ratio * 1e16, 1e16}, 8).localization;
          CHECK_THAT(found, WithinAbs(large_variance_limit(ratio), 0.04 / length));
        }
      }
    }
  }
  // From below for small means; at T = 24 and v = 10 it has come as far as 0.063.
  CHECK_THAT(walk_localization(24, 64, 0.001, 10, 8), WithinAbs(0.0632, 1e-4));
}

TEST_CASE(
    "the normalized walk is the walk at T times the temperature, so its threshold is T times as "
    "large") {
  const Index length = 48;
  const CentredKernel free = centred_kernel(walk(length));
  const CentredKernel normalized = centred_kernel(token_process("normalized-walk", length, 0));
  for (const double ratio : {0.05, 1.0, 3.0, 100.0}) {
    for (const double eta : {0.0, 0.3, 40.0, 1e5}) {
      const Propagation a = propagate(normalized, {ratio, eta, eta}, 1);
      const Propagation b = propagate(free, {ratio, eta, eta}, static_cast<double>(length));
      CHECK(largest_difference(a.rho, b.rho) < 1e-12);
    }
  }
  const double threshold = 2 * 48 / 47.0;
  CHECK(propagate(normalized, {0.999 * threshold, 0, 0}, 1).localization == 0);
  CHECK(propagate(normalized, {1.001 * threshold, 0, 0}, 1).localization > 0.01);
}

TEST_CASE("both walks are as localized with a negative mean, AR(1) tokens are not") {
  for (const char* process : {"random-walk", "normalized-walk"}) {
    const CentredKernel kernel = centred_kernel(token_process(process, 48, 0));
    for (const double xi : {0.5, 16.0, 400.0}) {
      for (const double eta : {0.0, 4.0, 1e4}) {
        const Propagation a = propagate(kernel, {xi, eta, eta}, 8);
        const Propagation b = propagate(kernel, {-xi, eta, eta}, 8);
        CHECK(largest_difference(a.rho, b.rho.reverse()) < 1e-12);
      }
    }
  }
  const CentredKernel kernel = centred_kernel(token_process("ar1", 48, 0.5));
  CHECK(propagate(kernel, {16, 4, 4}, 8).localization < 1e-6);
  // The query's own key alone is clipped.
  CHECK_THAT(propagate(kernel, {-16, 1, 1}, 8).localization, WithinAbs(1.0 / 48, 0.002));
}

TEST_CASE("localization is half way to its limit at a variance of 0.1 to 0.25 d m^2") {
  constexpr double width = 64, limit = 0.08517;
  for (const Index length : {48, 128}) {
    for (const double ratio : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {  // xi/lambda
      const double mean = ratio * 8 / width, scale = width * mean * mean;
      const auto at = [&](double variance) {
        return walk_localization(length, width, mean, variance, 8);
      };
      const double half = (at(0) + limit) / 2;
      INFO("T " << length << " xi/lambda " << ratio);
      CHECK(at(0.09 * scale) > half);
      CHECK(at(0.27 * scale) < half);
    }
  }
}

TEST_CASE("localization depends on xi/lambda and eta/lambda^2 alone") {
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 50, 0));
  for (const double scale : {0.1, 3.0, 250.0}) {
    const Propagation scaled =
        propagate(kernel, {2 * scale, 0.5 * scale * scale, 1.5 * scale * scale}, scale);
    CHECK_THAT(scaled.localization,
               WithinAbs(propagate(kernel, {2, 0.5, 1.5}, 1).localization, 1e-12));
  }
}

TEST_CASE("rho is unchanged by orthogonal conjugation of W") {
  const Eigen::MatrixXd w = Ensemble({EnsembleKind::factored, 32, 8, 5, {}}).matrix(0.1, 0.3);
  const Eigen::MatrixXd q = orthonormal_columns(random_matrix(32, 32, 8));
  const CentredKernel kernel = centred_kernel(walk(20));
  const VectorXd rho = propagate(kernel, moments_of_matrix(w).traces, 3).rho;
  const VectorXd turned = propagate(kernel, moments_of_matrix(q * w * q.transpose()).traces, 3).rho;
  CHECK(largest_difference(rho, turned) < 1e-10);
}

TEST_CASE("bad numbers are refused by name") {
  const CentredKernel kernel = centred_kernel(walk(8));
  CHECK_THROWS_WITH(propagate(kernel, {1, 1, 1}, 0),
                    StartsWith("temperature must ") && EndsWith(" 0"));
  CHECK_THROWS_WITH(propagate(kernel, {1, 1, -1}, 1), StartsWith("eta_f must ") && EndsWith(" -1"));
  CHECK_THROWS_WITH(propagate(kernel, {1, 3, 1}, 1), StartsWith("eta_s must ") && EndsWith(" 3"));
  CHECK_THROWS_WITH(walk(1), StartsWith("length must ") && EndsWith(" 1"));
}

TEST_CASE("the phase map is the theory at each of its cells, however it is cut into steps") {
  const PhaseMapSettings settings{walk(24), 0.4, {-6, 6, 37}, {0.05, 20, 21}};
  PhaseMap whole(settings), stepped(settings);
  CHECK(whole.advance(37 * 21));
  Index calls = 0;
  while (!stepped.advance(5)) {
    CHECK(stepped.progress() == Approx(5.0 * static_cast<double>(++calls) / (37 * 21)));
  }
  CHECK(whole.localization() == stepped.localization());
  CHECK(whole.rho_mean() == stepped.rho_mean());
  CHECK(whole.regime() == stepped.regime());
  CHECK(whole.signal() == stepped.signal());
  const CentredKernel kernel = centred_kernel(walk(24));
  for (const auto& [column, row] : {std::pair{0, 0}, {36, 20}, {18, 7}, {5, 13}}) {
    const double xi = -6 + 12 * column / 36.0;
    const double eta_f = std::pow(0.05 * std::pow(400.0, row / 20.0), 2);
    const Propagation expected = propagate(kernel, {xi, 0.4 * eta_f, eta_f}, 1);
    const auto cell = static_cast<std::size_t>(row * 37 + column);
    CHECK_THAT(whole.localization()[cell], WithinAbs(expected.localization, 1e-6));
    CHECK_THAT(whole.rho_mean()[cell], WithinAbs(expected.rho_mean, 1e-6));
    CHECK(whole.regime()[cell] == static_cast<std::uint8_t>(expected.regime));
    CHECK(whole.signal()[cell] == static_cast<std::uint8_t>(expected.signal));
  }
}

TEST_CASE("the phase map is coarse at once and refuses bad axes") {
  PhaseMap map({walk(24), 1, {-6, 6, 64}, {0.05, 20, 64}});
  map.advance(16);
  Index empty = 0;
  for (const float l : map.localization()) empty += std::isnan(l);
  CHECK(empty == 0);
  CHECK_THROWS_WITH(PhaseMap({walk(24), 2, {-6, 6, 64}, {0.05, 20, 64}}),
                    StartsWith("asymmetry must ") && EndsWith(" 2"));
  CHECK_THROWS_WITH(PhaseMap({walk(24), 1, {6, -6, 64}, {0.05, 20, 64}}), StartsWith("x must "));
  CHECK_THROWS_WITH(PhaseMap({walk(24), 1, {-6, 6, 64}, {0, 20, 64}}), StartsWith("y must "));
}
