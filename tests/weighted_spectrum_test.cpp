// Spectra in the metric of tokens: against dense matrices, numpy's numbers of MiniLM, and a prediction's heads.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/embedding_covariance.h"
#include "checkpoint/head_report.h"
#include "checkpoint_failure.h"
#include "inference_models.h"
#include "prediction/agreement.h"
#include "prediction/prediction.h"
#include "spectrum/weighted_spectrum.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

WeightedSpectrum diagonal(const VectorXd& values) {
  const MatrixXd identity = MatrixXd::Identity(values.size(), values.size());
  return weighted_spectrum(products_of_factors(MatrixXd(values.asDiagonal()), identity));
}

/// Singular values as the file lists them.
void check_listed(const nlohmann::json& expected, const nlohmann::json& listed,
                  const VectorXd& found, double tolerance) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    CHECK_THAT(found[listed[i].get<Index>()],
               WithinAbs(expected[i].get<double>(), tolerance * found[0]));
  }
}

}  // namespace

TEST_CASE("the weighted spectrum is that of C^(1/2) W C^(1/2)", "[spectrum]") {
  const MatrixXd query = random_matrix(9, 4, 1), key = random_matrix(9, 4, 2),
                 root = random_matrix(9, 9, 3);
  const MatrixXd covariance = root * root.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance);
  const MatrixXd a = solver.operatorSqrt() * query * key.transpose() * solver.operatorSqrt();
  const WeightedSpectrum found = weighted_spectrum(products_of_factors(query, key, covariance));
  const VectorXd expected = Eigen::JacobiSVD<MatrixXd>(a).singularValues().head(4);
  CHECK((found.singular_values - expected).norm() < 1e-7 * expected[0]);
  CHECK(found.eigenvalues.sum().real() == Approx(a.trace()));
  CHECK(found.traces.eta_f == Approx(a.squaredNorm()));
  CHECK(symmetric_share(found.traces) ==
        Approx((0.5 * (a + a.transpose())).squaredNorm() / a.squaredNorm()));
}

TEST_CASE("keys that depend on each other leave the singular values of W", "[spectrum]") {
  const MatrixXd query = random_matrix(20, 9, 4), few = random_matrix(20, 3, 5);
  const MatrixXd key = few * random_matrix(3, 9, 6);
  const VectorXd found = weighted_spectrum(products_of_factors(query, key)).singular_values;
  const VectorXd expected =
      Eigen::JacobiSVD<MatrixXd>(query * key.transpose()).singularValues().head(9);
  CHECK((found - expected).norm() < 1e-7 * expected[0]);
}

TEST_CASE("components are the fewest that hold nine tenths of the squares", "[spectrum]") {
  CHECK(diagonal(Eigen::Vector3d(3, 1, 0)).components() == 1);  // 9 of 10, met exactly
  CHECK(diagonal(Eigen::Vector3d(2.99, 1, 0)).components() == 2);
  CHECK(diagonal(VectorXd::Ones(10)).components() == 9);
  CHECK(diagonal(VectorXd::Ones(11)).components() == 10);
  CHECK(diagonal(VectorXd::Zero(3)).components() == 0);
  CHECK(symmetric_share(diagonal(Eigen::Vector2d(1, -2)).traces) == Approx(1));
  Eigen::Matrix2d turn;
  turn << 0, -1, 1, 0;
  const auto turned =
      weighted_spectrum(products_of_factors(MatrixXd(turn), MatrixXd::Identity(2, 2)));
  CHECK(std::abs(symmetric_share(turned.traces)) < 1e-12);
  FactorProducts broken{2, turn, turn, turn};
  broken.key(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(failure_of([&] { weighted_spectrum(broken); }).item == "matrix");
}

TEST_CASE("weighted by its embeddings, the heads of MiniLM have numpy's spectra to 1e-6",
          "[spectrum][sample]") {
  const nlohmann::json expected = reference("minilm-weighted.json");
  const Checkpoint checkpoint = open_checkpoint(minilm_folder());
  HeadScan scan(checkpoint.tensors, &*checkpoint.config);
  EmbeddingCovariance frame(checkpoint.tensors, scan.embeddings());
  while (!frame.done()) frame.advance();
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 128, 0));
  std::size_t at = 0;
  while (!scan.done()) {
    for (const ScannedHead& head : scan.advance(1)) {
      const HeadReport report = report_head(head, kernel, {true, frame.covariance()});
      const nlohmann::json& row = expected.at("embeddings").at(at++);
      INFO("layer " << report.layer << " head " << report.head);
      const double spread = row.at("spread");
      CHECK_THAT(std::sqrt(report.spectrum.traces.eta_f), WithinRel(spread, 1e-6));
      CHECK_THAT(report.spectrum.traces.xi,
                 WithinAbs(row.at("trace").get<double>(), 1e-6 * spread));
      CHECK(report.spectrum.components() == row.at("components").get<Index>());
      CHECK_THAT(symmetric_share(report.spectrum.traces),
                 WithinAbs(row.at("symmetric_share").get<double>(), 1e-6));
      check_listed(row.at("singular_values"), expected.at("listed"),
                   report.spectrum.singular_values, 1e-6);
    }
  }
  CHECK(at == 72);
}

TEST_CASE("weighted by the tokens of sequences, the heads of MiniLM have numpy's numbers",
          "[prediction][sample]") {
  const nlohmann::json expected = reference("minilm-weighted.json");
  PredictionPassages passages;
  for (const auto& ids : expected.at("ids")) {
    passages.statistics.push_back({ids.get<std::vector<int>>(), 1, 1});
  }
  passages.measured = passages.statistics;
  Prediction prediction(minilm_transformer(), passages, {8, 1});
  while (!prediction.advance(1000)) continue;
  REQUIRE(prediction.heads().size() == 72);
  for (std::size_t i = 0; i < 72; ++i) {
    const HeadPrediction& head = prediction.heads()[i];
    const nlohmann::json& row = expected.at("tokens").at(i);
    INFO("layer " << head.layer << " head " << head.head);
    const HeadInMetric& own = head.metrics[static_cast<std::size_t>(Metric::weighted)];
    // The forward pass is in single precision; its first layer has embeddings alone.
    const double tolerance = head.layer == 0 ? 1e-6 : 2e-5;
    const double spread = row.at("spread");
    const auto near = [&](const char* name, double found, double scale) {
      INFO(name);
      CHECK_THAT(found, WithinAbs(row.at(name).get<double>(), tolerance * scale));
    };
    near("spread", own.spread, spread);
    near("trace", own.trace, spread);
    near("spread_content", own.spread_content, spread);
    near("trace_content", own.trace_content, spread);
    near("symmetric_share", own.symmetric_share, 1);
    near("sink_gap", own.sink_gap, own.logit_bound);
    near("logit_bound", own.logit_bound, own.logit_bound);
    near("largest_logit", head.measured_logits.largest, own.logit_bound);
    CHECK(own.components == row.at("components").get<double>());
    CHECK(head.measured_logits.components == row.at("logit_components").get<double>());
    check_listed(row.at("singular_values"), expected.at("listed"), own.singular_values, tolerance);
    CHECK(own.logit_bound >= head.measured_logits.largest);
    CHECK(head.metrics[static_cast<std::size_t>(Metric::bare)].logit_bound > 0);
    CHECK(head.metrics[static_cast<std::size_t>(Metric::mean_field)].spread > 0);
  }
}

TEST_CASE("an expectation compares the heads of which both are known", "[prediction]") {
  std::vector<HeadPrediction> heads;
  for (int k = 0; k < 5; ++k) {
    heads.emplace_back(0, k);
    heads.back().in(Metric::weighted).spread = 1 + k;
    heads.back().measured.row.entropy = 1.0 / (1 + k);
  }
  heads[4].measured.row.entropy = std::numeric_limits<double>::quiet_NaN();
  const SpectralExpectation& spread = kSpectralExpectations.front();
  CHECK(spread.quantity->name == "spread");
  const SpectralAgreement found = spectral_agreement(heads, spread, Metric::weighted, {20, 1});
  CHECK(found.agreement.pairs == 4);
  CHECK(found.agreement.rank_correlation.value == Approx(-1));
  CHECK(found.ratio == Approx(6.5));  // of 1, 4, 9 and 16
  CHECK(spectral_agreement(heads, spread, Metric::bare, {20, 1}).agreement.pairs == 0);
}

TEST_CASE("the transfer null compares another text", "[prediction]") {
  std::vector<HeadPrediction> heads;
  for (int k = 0; k < 4; ++k) {
    heads.emplace_back(0, k);
    heads.back().measured.row.entropy = 0.1 * k;
    heads.back().transfer.row.entropy = 0.1 * k + 0.02;
  }
  const Agreement found = transfer_agreement(heads, kPredictedMeasures.front(), {20, 1});
  CHECK(found.pairs == 4);
  CHECK(found.error.value == Approx(0.02));
  CHECK(found.rank_correlation.value == Approx(1));
}
