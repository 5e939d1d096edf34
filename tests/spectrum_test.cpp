#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "catch.h"
#include "checkpoint/head_report.h"
#include "checkpoint/open_checkpoint.h"
#include "paths.h"
#include "spectrum/eigenvalues.h"
#include "spectrum/ensemble.h"
#include "spectrum/traces.h"
#include "spectrum/weight_distance.h"
#include "spectrum/weighted_spectrum.h"
#include "support/bits.h"
#include "support/decompositions.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

namespace {

void check_equal(const SpectralMoments& a, const SpectralMoments& b, double tolerance) {
  const double scale = 1 + b.traces.eta_f;
  CHECK(a.width == b.width);
  CHECK_THAT(a.traces.xi, WithinAbs(b.traces.xi, tolerance * scale));
  CHECK_THAT(a.traces.eta_s, WithinAbs(b.traces.eta_s, tolerance * scale));
  CHECK_THAT(a.traces.eta_f, WithinAbs(b.traces.eta_f, tolerance * scale));
  CHECK_THAT(a.quartic_s, WithinAbs(b.quartic_s, tolerance * scale * scale));
  CHECK_THAT(a.quartic_f, WithinAbs(b.quartic_f, tolerance * scale * scale));
}

// Largest distance in a greedy matching of two multisets of eigenvalues.
double distance(VectorXcd a, const VectorXcd& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (const std::complex<double>& mu : b) {
    Eigen::Index nearest = 0;
    worst = std::max(worst, (a.array() - mu).abs().minCoeff(&nearest));
    a[nearest] = std::numeric_limits<double>::infinity();
  }
  return worst;
}

constexpr EnsembleKind kDrawn[] = {EnsembleKind::normal,           EnsembleKind::two_point,
                                   EnsembleKind::uniform,          EnsembleKind::power_law,
                                   EnsembleKind::shifted_gaussian, EnsembleKind::factored};

}  // namespace

TEST_CASE("traces from factors equal those of the d x d matrix") {
  for (const auto& [width, head_width] : {std::pair{5, 1}, {12, 4}, {40, 16}, {16, 16}}) {
    const MatrixXd query = random_matrix(width, head_width, 1);
    const MatrixXd key = random_matrix(width, head_width, 2);
    check_equal(moments_of_products(products_of_factors(query, key)),
                moments_of_matrix(query * key.transpose()), 1e-11);
  }
}

namespace {

// Rounded to the 8 bits of BF16, and shifted so that sums grow with the width where `shift` is not 0.
Eigen::MatrixXf short_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed,
                             double shift) {
  Eigen::MatrixXf matrix = (random_matrix(rows, columns, seed).array() + shift).cast<float>();
  for (float& entry : matrix.reshaped()) {
    entry = bits_as<float>(bits_as<std::uint32_t>(entry) & 0xffff0000u);
  }
  return matrix;
}

}  // namespace

TEST_CASE("products in single precision stay within the bound of sums over 512") {
  const double bound = 513 * std::ldexp(1, -24);
  // Of one sign, sums lose most; of random signs, about the root of the count.
  for (const auto& [shift, seen] : {std::pair{3.0, bound}, {0.0, 2e-6}}) {
    for (const Eigen::Index width : {7, 512, 1500}) {
      CAPTURE(shift, width);
      const Eigen::MatrixXf query = short_matrix(width, 21, 1, shift);
      const Eigen::MatrixXf key = short_matrix(width, 21, 2, shift);
      const MatrixXd wide_query = query.cast<double>(), wide_key = key.cast<double>();
      const FactorProducts single = products_of_factors(query, key);
      const FactorProducts wide = products_of_factors(wide_query, wide_key);
      const MatrixXd norms = wide_key.colwise().norm().transpose() * wide_query.colwise().norm();
      CHECK((single.core - wide.core).cwiseQuotient(norms).cwiseAbs().maxCoeff() < seen);
      const double norm = wide_query.norm() * wide_key.norm();
      CHECK((single.query - wide.query).norm() < seen * wide_query.squaredNorm());
      CHECK((single.key - wide.key).norm() < seen * wide_key.squaredNorm());
      const Traces a = moments_of_products(single).traces, b = moments_of_products(wide).traces;
      CHECK_THAT(a.xi, WithinAbs(b.xi, seen * norm));
      CHECK_THAT(a.eta_s, WithinAbs(b.eta_s, 2 * seen * norm * norm));
      CHECK_THAT(a.eta_f, WithinAbs(b.eta_f, 2 * seen * norm * norm));
      CHECK(distance(eigenvalues_of_matrix(single.core, single.precision),
                     eigenvalues_of_matrix(wide.core)) < seen * norm);
      CHECK(single.precision == Precision::single);
      CHECK(wide.precision == Precision::full);
    }
  }
}

TEST_CASE("products whose squares leave the range of floats are formed in double") {
  const Eigen::MatrixXf query = short_matrix(40, 3, 1, 0), key = short_matrix(40, 3, 2, 0);
  for (const float scale : {0x1p-100f, 0x1p-60f, 0x1p80f}) {
    const FactorProducts found = products_of_factors(Eigen::MatrixXf(scale * query), key);
    const FactorProducts wide =
        products_of_factors(MatrixXd(query.cast<double>()), MatrixXd(key.cast<double>()));
    CHECK(found.precision == Precision::full);
    CHECK((found.core / scale - wide.core).norm() < 1e-12 * wide.core.norm());
    CHECK((found.query / scale / scale - wide.query).norm() < 1e-12 * wide.query.norm());
    CHECK((found.key - wide.key).norm() < 1e-12 * wide.key.norm());
  }
}

TEST_CASE("moments follow their definitions for a known spectrum") {
  const SpectralMoments m =
      moments_of_matrix(Eigen::Vector4d(1, 2, 3, -2).asDiagonal().toDenseMatrix());
  CHECK(m.mean() == 1);
  CHECK(m.variance() == 3.5);
  CHECK(m.variance_frobenius() == 3.5);
  CHECK(m.fourth_moment() == Approx(114.0 / 324));
  CHECK(m.fourth_moment_frobenius() == Approx(114.0 / 324));
}

TEST_CASE("a rotation has imaginary eigenvalues and a negative trace variance") {
  MatrixXd turn(2, 2);
  turn << 0, -1, 1, 0;
  const SpectralMoments m = moments_of_matrix(turn);
  CHECK(m.variance() == -1);
  CHECK(m.variance_frobenius() == 1);
  VectorXcd mu = eigenvalues_of_matrix(turn);
  sort_for_display(mu);
  CHECK(std::abs(mu[0] - std::complex<double>(0, 1)) < 1e-15);
  CHECK(variance_modulus(mu, 2) == Approx(1));
}

TEST_CASE("eigenvalues are those of matrices with known ones, at any scale") {
  // Cyclic permutations, for which the usual shifts do not converge: the roots of unity.
  for (const int n : {3, 5, 33}) {
    MatrixXd cyclic = MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i) cyclic((i + 1) % n, i) = 1;
    VectorXcd roots(n);
    for (int i = 0; i < n; ++i) roots[i] = std::polar(1.0, 2 * std::numbers::pi * i / n);
    CHECK(distance(eigenvalues_of_matrix(cyclic), roots) < 1e-13);
  }
  // Nilpotent, zero and of low rank.
  const MatrixXd shift = MatrixXd::Identity(40, 41).rightCols(40);
  CHECK(eigenvalues_of_matrix(shift).norm() == 0);
  CHECK(eigenvalues_of_matrix(MatrixXd::Zero(5, 5)).norm() == 0);
  const MatrixXd low = random_matrix(30, 4, 1) * random_matrix(4, 30, 2);
  CHECK((eigenvalues_of_matrix(low).array().abs() > 1e-10).count() == 4);
  // Eigen's, which computes the whole Schur form; symmetric and antisymmetric ones too.
  for (const int n : {2, 3, 17, 64, 130}) {
    const MatrixXd any = random_matrix(n, n, 5);
    for (const MatrixXd& a :
         {any, MatrixXd(any + any.transpose()), MatrixXd(any - any.transpose())}) {
      const VectorXcd expected = Eigen::EigenSolver<MatrixXd>(a, false).eigenvalues();
      for (const double scale : {1.0, 1e-200, 1e200}) {
        CHECK(distance(eigenvalues_of_matrix(scale * a) / scale, expected) < 1e-12 * a.norm());
        CHECK(distance(eigenvalues_of_matrix(scale * a, Precision::single) / scale, expected) <
              2e-6 * a.norm());
      }
    }
  }
}

TEST_CASE("eigenvalues of symmetric matrices are those of Eigen's solver, at every scale") {
  for (const int n : {1, 2, 3, 8, 9, 33, 64, 130}) {
    const MatrixXd any = random_matrix(n, n, 7), low = random_matrix(n, 1 + n / 3, 8);
    for (const MatrixXd& a : {MatrixXd(any + any.transpose()), MatrixXd(low * low.transpose()),
                              MatrixXd(any.col(0).asDiagonal()), MatrixXd(MatrixXd::Identity(n, n)),
                              MatrixXd(MatrixXd::Zero(n, n))}) {
      const VectorXd expected = symmetric_eigen(a).values;
      for (const double scale : {1.0, 1e-200, 1e200}) {
        const VectorXd found = symmetric_eigenvalues(scale * a);
        CHECK((found / scale - expected).norm() <= 1e-13 * a.norm());
        CHECK(std::is_sorted(found.begin(), found.end()));
      }
      // What is above the diagonal is not read.
      CHECK(symmetric_eigenvalues(a.triangularView<Eigen::Lower>()) == symmetric_eigenvalues(a));
    }
  }
  MatrixXd bad = MatrixXd::Identity(3, 3);
  bad(2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(symmetric_eigenvalues(bad), std::runtime_error);
}

TEST_CASE("eigenvalues reproduce the power sums, at padded and unpadded sizes") {
  for (const int n : {1, 2, 33, 64, 128}) {
    const MatrixXd a = random_matrix(n, n, 3) / std::sqrt(n);
    const VectorXcd mu = eigenvalues_of_matrix(a);
    REQUIRE(mu.size() == n);
    const SpectralMoments m = moments_of_matrix(a);
    CHECK(std::abs(mu.sum() - m.traces.xi) < 1e-10);
    CHECK(std::abs(mu.array().square().sum() - m.traces.eta_s) < 1e-10);
    CHECK(std::abs(mu.array().square().square().sum() - m.quartic_s) < 1e-9);
  }
}

TEST_CASE("the non-zero eigenvalues of the factors are those of the d x d matrix") {
  const MatrixXd query = random_matrix(20, 6, 4), key = random_matrix(20, 6, 5);
  VectorXcd all = eigenvalues_of_matrix(query * key.transpose());
  sort_for_display(all);
  CHECK(distance(all.head(6), eigenvalues_of_matrix(products_of_factors(query, key).core)) < 1e-10);
  CHECK(largest(all.tail(14)) < 1e-10);
}

TEST_CASE("an ensemble has exactly the mean and the Frobenius variance asked for") {
  for (const EnsembleKind kind : kDrawn) {
    for (const auto& [width, head_width] : {std::pair{2, 2}, {7, 3}, {48, 16}}) {
      Ensemble ensemble({kind, width, head_width, 9, {}});
      const double mean = 0.2, variance = 0.4;
      const SpectralMoments moments = ensemble.moments(mean, variance);
      check_equal(moments, moments_of_matrix(ensemble.matrix(mean, variance)), 1e-11);
      CHECK(moments.mean() == Approx(mean));
      CHECK(moments.variance_frobenius() == Approx(variance));
      const VectorXcd mu = ensemble.eigenvalues(mean, variance);
      CHECK(std::abs(mu.sum() - moments.traces.xi) < 1e-9);
      CHECK(std::abs(mu.array().square().sum() - moments.traces.eta_s) < 1e-9);
      if (ensemble.symmetric()) CHECK(moments.variance() == Approx(variance));
    }
  }
}

TEST_CASE("the parts of apply() add up to the matrix") {
  for (const EnsembleKind kind : kDrawn) {
    const Ensemble ensemble({kind, 24, 8, 2, {}});
    const Eigen::VectorXf x = random_matrix(24, 1, 6).cast<float>();
    Eigen::VectorXf centre, spread;
    ensemble.apply(x, centre, spread);
    const auto [c, s] = ensemble.weights(0.3, 0.5);
    const Eigen::VectorXd sum = c * centre.cast<double>() + s * spread.cast<double>();
    CHECK(largest(sum - ensemble.matrix(0.3, 0.5) * x.cast<double>()) < 2e-5);
  }
}

TEST_CASE("each ensemble has the shape that its name says") {
  const auto kurtosis = [](EnsembleKind kind) {
    // With mean 0 and variance 1 it is the mean fourth power.
    return Ensemble({kind, 4000, 2, 3, {}}).moments(0, 1).quartic_s / 4000;
  };
  CHECK(kurtosis(EnsembleKind::normal) == Approx(3).margin(0.35));
  CHECK(kurtosis(EnsembleKind::uniform) == Approx(1.8).margin(0.06));
  CHECK(kurtosis(EnsembleKind::two_point) == Approx(1));
  CHECK(kurtosis(EnsembleKind::power_law) > 100);
  Ensemble long_tail({EnsembleKind::power_law, 50, 2, 3, {}});
  const VectorXcd mu = long_tail.eigenvalues(0, 1);  // a + b/k
  CHECK(std::real((mu[0] - mu[1]) / (mu[1] - mu[2])) == Approx(3));
  // Entries of W of a shifted Gaussian are normal off the diagonal, and not symmetric.
  const MatrixXd w = Ensemble({EnsembleKind::shifted_gaussian, 80, 2, 3, {}}).matrix(1, 1);
  CHECK(w.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().squaredNorm() / 3160 * 80 ==
        Approx(1).margin(0.1));
  CHECK((w - w.transpose()).squaredNorm() / 80 == Approx(2).margin(0.15));
  // A factored W has rank d_h.
  const MatrixXd low = Ensemble({EnsembleKind::factored, 20, 4, 3, {}}).matrix(0.1, 0.3);
  const Eigen::ArrayXd squares = eigenvalues_of_matrix(low * low.transpose()).array().real();
  CHECK((squares > 1e-12 * squares.maxCoeff()).count() == 4);
}

TEST_CASE("the same seed gives the same ensemble, another seed another") {
  for (const EnsembleKind kind : {EnsembleKind::normal, EnsembleKind::factored}) {
    const MatrixXd first = Ensemble({kind, 16, 8, 3, {}}).matrix(0.1, 0.2);
    CHECK(first == Ensemble({kind, 16, 8, 3, {}}).matrix(0.1, 0.2));
    CHECK(first != Ensemble({kind, 16, 8, 4, {}}).matrix(0.1, 0.2));
  }
}

TEST_CASE("an explicit list is rescaled to the mean and variance asked for") {
  Ensemble ensemble({EnsembleKind::list, 0, 0, 1, {1, 2, 6}});
  CHECK(ensemble.width() == 3);
  const VectorXcd own = ensemble.eigenvalues(3, 14.0 / 3);
  CHECK(distance(own, Eigen::Vector3cd(1, 2, 6)) < 1e-12);
}

TEST_CASE("a list may be tiny or huge, but its entries must differ by more than rounding") {
  Ensemble tiny({EnsembleKind::list, 0, 0, 1, {0, 1e-200}});
  CHECK(distance(tiny.eigenvalues(0, 1), Eigen::Vector2cd(-1, 1)) < 1e-12);
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::list, 0, 0, 1, {1, 1 + 1e-15}}),
                    ContainsSubstring("differ"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::shifted_gaussian, 2000, 8, 1, {}}),
                    ContainsSubstring("at most 1024"));
}

TEST_CASE("what an ensemble cannot be is refused by name") {
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::normal, 1, 1, 1, {}}),
                    StartsWith("width must ") && EndsWith(" 1"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::factored, 8, 9, 1, {}}),
                    StartsWith("head_width must ") && EndsWith(" 9"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::factored, 8, 1, 1, {}}),
                    ContainsSubstring("integer from 2 to 1024"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::list, 8, 8, 1, {1}}), ContainsSubstring("eigenvalues"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::list, 8, 8, 1, {1, 1}}), ContainsSubstring("differ"));
  CHECK_THROWS_WITH(Ensemble({EnsembleKind::list, 8, 8, 1, {1, std::nan("")}}),
                    StartsWith("eigenvalue must ") && EndsWith(" nan"));
  CHECK_THROWS_WITH(value_of_name<EnsembleKind>("ensemble", "gauss", kEnsembleNames),
                    ContainsSubstring("shifted-gaussian"));
  const Ensemble narrow({EnsembleKind::factored, 64, 16, 1, {}});
  CHECK(narrow.minimum_variance(0.1) == Approx(0.03));
  CHECK_THROWS_WITH(narrow.weights(0.1, 0.02), ContainsSubstring("at least the rank floor 0.03"));
  CHECK_NOTHROW(narrow.weights(0.1, 0.03));
  CHECK_THROWS_WITH(narrow.weights(std::nan(""), 1), StartsWith("mean must ") && EndsWith(" nan"));
  CHECK_THROWS_WITH(narrow.weights(0, -1), StartsWith("variance must ") && EndsWith(" -1"));
}

TEST_CASE("matrices that are empty, misshapen or not finite are refused") {
  const MatrixXd query = random_matrix(4, 2, 1);
  MatrixXd bad = query;
  bad(1, 1) = std::nan("");
  const auto refuse = [](const MatrixXd& q, const MatrixXd& k, const char* why) {
    CHECK_THROWS_WITH(products_of_factors(q, k), ContainsSubstring(why));
    const Eigen::MatrixXf single_q = q.cast<float>(), single_k = k.cast<float>();
    CHECK_THROWS_WITH(products_of_factors(single_q, single_k), ContainsSubstring(why));
  };
  refuse(query, bad, "key must have finite entries");
  bad(1, 1) = std::numeric_limits<double>::infinity();
  refuse(bad, query, "query must have finite entries");
  refuse(query, MatrixXd::Zero(4, 3), "key must have the shape of query");
  refuse(MatrixXd(0, 2), MatrixXd(0, 2), "query must have entries");
  CHECK_THROWS_AS(moments_of_matrix(MatrixXd()), InvalidArgument);
  CHECK_THROWS_AS(moments_of_matrix(query), InvalidArgument);
  CHECK_THROWS_AS(eigenvalues_of_matrix(bad), InvalidArgument);
  CHECK_THROWS_AS(check_traces({0, 2, 1}), InvalidArgument);
  CHECK_THROWS_AS(check_traces({std::nan(""), 0, 1}), InvalidArgument);
}

TEST_CASE("a head whose weights are too large is refused by its name") {
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 8, 0));
  const MatrixXd factor = random_matrix(6, 2, 1);
  CHECK_NOTHROW(report_head({3, 5, 1e6 * factor, 1e3 * factor}, kernel));
  for (const double scale : {1e20, 1e200}) {
    CHECK_THROWS_WITH(report_head({3, 5, scale * factor, scale * factor}, kernel),
                      StartsWith("layer 3 head 5: its traces are out of the range of the theory"));
  }
}

TEST_CASE(
    "heads whose traces are too large have no predictions, and none of their numbers is wrong") {
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 8, 0));
  const MatrixXd factor = random_matrix(6, 2, 1);
  const auto report = [&](double scale) {
    return report_head(ScannedHead(HeadFactors{3, 5, scale * factor, scale * factor}), kernel, {});
  };
  const HeadReport usual = report(1), large = report(1e20), endless = report(1e200);
  CHECK(usual.outside_theory.empty());
  CHECK_THAT(large.outside_theory,
             StartsWith("its traces are out of the range of the theory: xi must be"));
  CHECK(std::isnan(large.localization));
  CHECK(std::isnan(large.rho_mean));
  CHECK(large.regime == Regime::none);
  CHECK(large.moments.traces.xi == Approx(1e40 * usual.moments.traces.xi));
  CHECK(large.spectrum.singular_values[0] == Approx(1e40 * usual.spectrum.singular_values[0]));
  CHECK(endless.outside_theory == "the traces of its products overflow");
  for (const double value :
       {endless.moments.traces.xi, endless.moments.traces.eta_f, endless.moments.quartic_s,
        endless.variance_modulus, endless.logit_bound, endless.directionality, endless.localization,
        endless.rho_mean}) {
    CHECK(std::isnan(value));
  }
  CHECK(endless.spectrum.singular_values.size() == 0);
  CHECK(endless.head == 5);
}

TEST_CASE("the heads of MiniLM equal the worked numbers to 1e-6", "[sample]") {
  const auto heads = testing::reference("minilm-heads.json")["heads"];
  const Checkpoint checkpoint = open_checkpoint(testing::minilm_folder());
  HeadScan scan(checkpoint.tensors, &*checkpoint.config);
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 128, 0));
  std::size_t count = 0;
  while (!scan.done()) {
    for (const ScannedHead& head : scan.advance(1)) {
      const HeadReport report = report_head(head, kernel, {});
      INFO("layer " << report.layer << " head " << report.head);
      CHECK(std::abs(report.spectrum.eigenvalues.sum() - report.moments.traces.xi) < 1e-9);
      REQUIRE(count < heads.size());
      const auto& expected = heads[count++];
      CHECK(report.layer == expected["layer"]);
      CHECK(report.head == expected["head"]);
      CHECK(report.moments.width == expected["width"]);
      CHECK(report.head_width == expected["head_width"]);
      CHECK_THAT(report.moments.traces.xi, WithinRel(double(expected["xi"]), 1e-6));
      CHECK_THAT(report.moments.traces.eta_s, WithinRel(double(expected["eta_s"]), 1e-6));
      CHECK_THAT(report.moments.traces.eta_f, WithinRel(double(expected["eta_f"]), 1e-6));
      CHECK_THAT(report.moments.mean(), WithinRel(double(expected["mean"]), 1e-6));
      CHECK_THAT(report.moments.variance(), WithinRel(double(expected["variance"]), 1e-6));
      CHECK_THAT(report.moments.variance_frobenius(),
                 WithinRel(double(expected["variance_frobenius"]), 1e-6));
      CHECK_THAT(report.variance_modulus, WithinRel(double(expected["variance_modulus"]), 1e-6));
      VectorXcd mu(static_cast<Eigen::Index>(expected["eigenvalues"].size()));
      for (Eigen::Index i = 0; i < mu.size(); ++i) {
        const auto& pair = expected["eigenvalues"][static_cast<std::size_t>(i)];
        mu[i] = {pair[0], pair[1]};
      }
      CHECK(distance(report.spectrum.eigenvalues, mu) < 1e-6 * mu.cwiseAbs().maxCoeff());
    }
  }
  CHECK(count == 72);
  CHECK(heads.size() == 72);
  CHECK(scan.bytes_read() < 10'000'000);
}

TEST_CASE("no spectrum of low rank has a variance below the rank floor") {
  for (const auto& [rank, seed] : {std::pair{2, 1}, {8, 2}, {31, 3}}) {
    const Eigen::MatrixXd query = random_matrix(32, rank, static_cast<std::uint64_t>(seed)),
                          key = random_matrix(32, rank, static_cast<std::uint64_t>(seed + 9));
    const FactorProducts products = products_of_factors(query, key);
    const SpectralMoments moments = moments_of_products(products);
    const double floor = rank_floor(moments, rank);
    CHECK(moments.variance_frobenius() > floor);
    CHECK(variance_modulus(eigenvalues_of_matrix(products.core), 32) > floor);
    // A multiple of a projector reaches it.
    const Eigen::MatrixXd basis = orthonormal_columns(random_matrix(32, rank, 77));
    const SpectralMoments projector =
        moments_of_products(products_of_factors(Eigen::MatrixXd(0.3 * basis), basis));
    CHECK(projector.variance() == Approx(rank_floor(projector, rank)));
    CHECK(projector.variance_frobenius() == Approx(rank_floor(projector, rank)));
  }
  CHECK(rank_floor({8, {2, 1, 1}, 0, 0}, 8) == 0);
}

TEST_CASE("traces of W Sigma are the excess of self logits and the spread of logits of such tokens",
          "[long]") {
  constexpr Eigen::Index kDraws = 40000;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Eigen::Index width = 4 + 2 * static_cast<Eigen::Index>(seed % 4);
    const Eigen::Index rank = 2 + static_cast<Eigen::Index>(seed % 3);
    const MatrixXd query = random_matrix(width, rank, 10 * seed + 1),
                   key = random_matrix(width, rank, 10 * seed + 2),
                   root = random_matrix(width, width, 10 * seed + 3),
                   mean = random_matrix(width, 1, 10 * seed + 4);
    const Traces traces =
        moments_of_products(products_of_factors(query, key, root * root.transpose())).traces;
    const auto tokens = [&](std::uint64_t own) -> MatrixXd {
      return root * random_matrix(width, kDraws, 10 * seed + own);
    };
    const MatrixXd queries = query.transpose() * tokens(5), keys = key.transpose() * tokens(6);
    const MatrixXd self = key.transpose() * tokens(5);
    const Eigen::RowVectorXd shift = (key.transpose() * mean).transpose() * queries +
                                     (query.transpose() * mean).transpose() * self;
    const auto agrees = [&](const Eigen::ArrayXd& draws, double expected) {
      const double value = draws.mean();
      const double error = std::sqrt((draws - value).square().mean() / kDraws);
      INFO("seed " << seed << ": " << value << " +- " << error << ", expected " << expected);
      CHECK(std::abs(value - expected) < 4 * error);
    };
    // The tokens' mean adds to both logits what a token and its mean give: on average nothing.
    agrees((queries.cwiseProduct(self).colwise().sum() + shift).transpose(), traces.xi);
    agrees(queries.cwiseProduct(keys).colwise().sum().transpose().array().square(), traces.eta_f);
    agrees(queries.cwiseProduct(keys).colwise().sum().transpose(), 0);
  }
}

TEST_CASE("the distance of two W from their factors is that of the matrices") {
  const MatrixXd query = random_matrix(9, 3, 1), key = random_matrix(9, 3, 2);
  const MatrixXd other_query = random_matrix(9, 4, 3), other_key = random_matrix(9, 4, 4);
  const MatrixXd w = query * key.transpose(), other = other_query * other_key.transpose();
  const double distance = weight_distance({query, key}, {other_query, other_key});
  CHECK_THAT(distance, WithinAbs((other - w).norm() / w.norm(), 1e-10));
  CHECK(weight_distance({query, key}, {query, key}) == 0);
  const MatrixXd near = 1e-9 * other_query.leftCols(3);
  CHECK(weight_distance({query, key}, {query + near, key}) ==
        Approx((near * key.transpose()).norm() / w.norm()).epsilon(1e-6));
  const auto values = [](const MatrixXd& q, const MatrixXd& k) {
    return weighted_spectrum(products_of_factors(q, k)).singular_values;
  };
  const double bound = spectrum_distance(values(query, key), values(other_query, other_key));
  CHECK(bound > 0);
  CHECK(bound <= distance);
  // Turning W changes it, but not its singular values.
  CHECK(spectrum_distance(values(query, key), values(key, query)) < 1e-7);
  CHECK(weight_distance({query, key}, {key, query}) > 0.1);
  CHECK(std::isnan(weight_distance({MatrixXd::Zero(9, 3), key}, {query, key})));
  CHECK_THROWS_AS(weight_distance({query, key}, {query.topRows(8), key.topRows(8)}),
                  InvalidArgument);
}
