#include "attention/attention.h"

#include <cmath>

#include "attention/softmax.h"
#include "catch.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("softmax equals its definition and survives huge logits") {
  const VectorXd logits = random_matrix(9, 1, 1);
  const VectorXd weights = softmax(logits, 0.7);
  double sum = 0;
  for (const double omega : logits) sum += std::exp(omega / 0.7);
  for (Index i = 0; i < 9; ++i) CHECK(weights[i] == Approx(std::exp(logits[i] / 0.7) / sum));
  const VectorXd sharp = softmax(Eigen::Vector3d(1e300, -1e300, 0), 1);
  CHECK(sharp.isApprox(Eigen::Vector3d(1, 0, 0)));
}

TEST_CASE("the piecewise linear softmax is the first order of the exact one") {
  const VectorXd logits = random_matrix(12, 1, 2);
  const double small = 1e-5;
  const VectorXd difference =
      piecewise_linear_softmax(small * logits, 1) - softmax(small * logits, 1);
  CHECK(difference.cwiseAbs().maxCoeff() < 10 * small * small);
  CHECK(piecewise_linear_softmax(Eigen::Vector2d(1e9, -1e9), 1) == Eigen::Vector2d(1, 0));
}

TEST_CASE("row measures at their extremes") {
  const VectorXd uniform = VectorXd::Constant(16, 1.0 / 16), one = VectorXd::Unit(16, 4);
  CHECK(normalized_entropy(uniform) == Approx(1));
  CHECK(normalized_entropy(one) == 0);
  CHECK(participation(uniform) == Approx(1));
  CHECK(participation(one) == Approx(1.0 / 16));
  CHECK(sensitivity(one).sum() == 0);
  CHECK(sensitivity(uniform).sum() == Approx(15.0 / 16));
  CHECK(std::isnan(normalized_entropy(VectorXd::Ones(1))));
}

TEST_CASE("an attention matrix equals a plain loop, causal and full") {
  const MatrixXd x = random_matrix(5, 8, 3), w = random_matrix(5, 5, 4);
  const MatrixXd logits = attention_logits(x, w);
  for (const Mask& mask : {Mask{MaskKind::causal}, Mask{MaskKind::full}}) {
    const MatrixXd weights = attention_weights(logits, 2, SoftmaxKind::exact, mask);
    for (Index t = 0; t < 8; ++t) {
      const Index keys = mask.kind == MaskKind::causal ? t + 1 : 8;
      double sum = 0;
      for (Index i = 0; i < keys; ++i) sum += std::exp(x.col(i).dot(w * x.col(t)) / 2);
      for (Index i = 0; i < 8; ++i) {
        const double expected = i < keys ? std::exp(x.col(i).dot(w * x.col(t)) / 2) / sum : 0;
        CHECK(weights(i, t) == Approx(expected).margin(1e-15));
      }
    }
    const VectorXd entropy = query_entropies(weights, mask);
    CHECK(std::isnan(entropy[0]) == (mask.kind == MaskKind::causal));
    CHECK(entropy.tail(7).minCoeff() >= 0);
    CHECK(entropy.tail(7).maxCoeff() <= 1 + 1e-12);
  }
}

TEST_CASE("equal logits give uniform attention in both forms") {
  const MatrixXd logits = MatrixXd::Zero(6, 6);
  for (const SoftmaxKind kind : {SoftmaxKind::exact, SoftmaxKind::piecewise_linear}) {
    const MatrixXd weights = attention_weights(logits, 1, kind, {MaskKind::causal});
    for (Index t = 0; t < 6; ++t) {
      CHECK(weights(0, t) == Approx(1.0 / static_cast<double>(t + 1)));
      CHECK(weights.col(t).tail(5 - t).isZero());
    }
  }
}

TEST_CASE("unknown names, misshapen matrices and bad temperatures are refused") {
  CHECK(value_of_name<SoftmaxKind>("softmax", "piecewise-linear", kSoftmaxNames) ==
        SoftmaxKind::piecewise_linear);
  CHECK(value_of_name<MaskKind>("mask", "full", kMaskNames) == MaskKind::full);
  CHECK_THROWS_WITH(value_of_name<SoftmaxKind>("softmax", "soft", kSoftmaxNames),
                    ContainsSubstring("exact, piecewise-linear, hard"));
  CHECK_THROWS_WITH(value_of_name<MaskKind>("mask", "none", kMaskNames),
                    ContainsSubstring("full, causal, window, blocks"));
  CHECK_THROWS_AS(attention_logits(MatrixXd(4, 3), MatrixXd(3, 3)), InvalidArgument);
  CHECK_THROWS_AS(
      attention_weights(MatrixXd::Zero(3, 5), 1, SoftmaxKind::exact, {MaskKind::causal}),
      InvalidArgument);
  CHECK_THROWS_AS(softmax(VectorXd::Zero(3), -1), InvalidArgument);
  CHECK_THROWS_AS(softmax(VectorXd::Zero(3), std::nan("")), InvalidArgument);
}
