#include "attention/criticality.h"

#include <cmath>

#include "attention/random_energy.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using eigenscope::testing::failure_of;

namespace {

struct Sampled {
  double mean = 0, error = 0;
};

// Variance over keys of the logits of a query that is not among them, for tokens of mean cosine p.
Sampled sampled_variance(const CorrelatedHeads& heads, double p) {
  constexpr Index kDraws = 600, kKeys = 64;
  const Index d = heads.width, h = heads.head_width;
  VectorXd found(kDraws);
  for (Index draw = 0; draw < kDraws; ++draw) {
    const auto seed = static_cast<std::uint64_t>(4 * draw);
    const MatrixXd a = random_matrix(h, d, seed) / std::sqrt(static_cast<double>(d));
    const MatrixXd c = random_matrix(h, d, seed + 1) / std::sqrt(static_cast<double>(d));
    const VectorXd common = random_matrix(d, 1, seed + 2);
    const MatrixXd tokens = (std::sqrt(1 - p) * random_matrix(d, kKeys + 1, seed + 3)).colwise() +
                            std::sqrt(p) * common;
    const MatrixXd queries = heads.alpha * a + std::sqrt(1 - heads.alpha * heads.alpha) * c;
    const VectorXd logits = (a * tokens.leftCols(kKeys)).transpose() *
                            (queries * tokens.col(kKeys)) / std::sqrt(static_cast<double>(h));
    found[draw] = (logits.array() - logits.mean()).square().sum() / (kKeys - 1);
  }
  const double mean = found.mean();
  return {mean, std::sqrt((found.array() - mean).square().sum() / (kDraws - 1) / kDraws)};
}

}  // namespace

TEST_CASE("the variance of correlated heads' logits over keys is that of sampled heads") {
  for (const double alpha : {-1.0, 0.0, 0.6, 1.0}) {
    for (const double p : {0.0, 0.3}) {
      const CorrelatedHeads heads{alpha, 32, 16};
      const Sampled sampled = sampled_variance(heads, p);
      const double expected = key_logit_variance(heads, 1 - p);
      INFO("alpha " << alpha << " p " << p << " expected " << expected << " sampled "
                    << sampled.mean << " +- " << sampled.error);
      CHECK(std::abs(sampled.mean - expected) < 4 * sampled.error);
    }
  }
}

TEST_CASE("at the freezing scale the variance is 2 log T, as Giorlandino and Goldt have it") {
  for (const double alpha : {-1.0, 0.0, 0.5}) {
    const CorrelatedHeads heads{alpha, 32, 16};
    const double s = freezing_scale(heads, 0.8, 128);
    CHECK_THAT(std::pow(s, 4) * key_logit_variance(heads, 0.8),
               WithinRel(2 * std::log(128.0), 1e-12));
    CHECK(random_energy_entropy(std::sqrt(key_logit_variance(heads, 0.8)) * 1.001 * s * s, 128) ==
          0);
  }
  // beta_c = sqrt(2/(1 - p)), with logits of variance beta^2 log T.
  CHECK_THAT(freezing_scale({0, 512, 512}, 0.75, 256),
             WithinRel(std::pow(2 / 0.75 * std::log(256.0), 0.25), 1e-12));
  CHECK(std::isinf(freezing_scale({0, 32, 16}, 0, 32)));
}

TEST_CASE("heads that are none are refused by the name of what is wrong") {
  const auto item = [](const CorrelatedHeads& heads, double unlike) {
    return failure_of([&] { key_logit_variance(heads, unlike); }).item;
  };
  CHECK(item({1.5, 32, 16}, 1) == "alpha");
  CHECK(item({0, 0, 16}, 1) == "width");
  CHECK(item({0, 32, 0}, 1) == "head_width");
  CHECK(item({0, 32, 16}, -0.1) == "unlike");
  CHECK(item({0, 32, 16}, 1.1) == "unlike");
}
