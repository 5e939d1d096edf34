#include "attention/random_energy.h"

#include <cmath>
#include <string>

#include "catch.h"
#include "simulation/gaussian_rows.h"

using namespace eigenscope;
using Eigen::Index;

namespace {

// Independent logits of standard deviation s: no mean, eta_S = 0, tokens without correlation.
GaussianRows independent_rows(double logit_std, Index keys, Index samples, std::uint64_t seed) {
  return {token_process("ar1", keys, 0), {{{0, 0, logit_std * logit_std}, 1}}, samples, seed};
}

constexpr Index kBatches = 32, kBatch = 125;

// The mean sensitivity of the keys, with a standard error from batches of rows, while `rows` advances to
// its end. A key alone is no test: its weights have nearly a log-normal law, whose rare large values a
// sample misses in its mean and its error alike (over 204,000 keys 186 were 4 errors too low, 1 too high).
Estimate mean_sensitivity(GaussianRows& rows) {
  Eigen::Array<double, kBatches, 1> batch;
  double before = 0;
  for (Index i = 0; i < kBatches; ++i) {
    rows.advance(kBatch);
    const double sum = rows.estimate(0).sensitivity.mean() * static_cast<double>(i + 1);
    batch[i] = sum - before;
    before = sum;
  }
  return mean_estimate(batch.sum(), batch.square().sum(), kBatches);
}

}  // namespace

TEST_CASE("the entropy of a row of independent logits is that of sampled rows") {
  std::uint64_t seed = 40;
  for (const Index keys : {8, 32, 128, 512}) {
    for (const double logit_std : {0.5, 1.0, 2.0, 3.0, 4.0}) {
      const IndependentRow exact = independent_row(logit_std, keys);
      GaussianRows rows = independent_rows(logit_std, keys, kBatches * kBatch, ++seed);
      const Estimate sampled = mean_sensitivity(rows), entropy = rows.estimate(0).entropy;
      INFO("T " << keys << " s " << logit_std << " exact " << exact.entropy << " sampled "
                << entropy.value << " +- " << entropy.error);
      CHECK(std::abs(entropy.value - exact.entropy) < 4 * entropy.error);
      // E p_i (1 - p_i) is the same for every key: (1 - E sum p^2) / T.
      const double sensitivity = (1 - exact.square_weight) / static_cast<double>(keys);
      CHECK(std::abs(sampled.value - sensitivity) < 4 * sampled.error);
    }
  }
}

TEST_CASE("the expectations obey Stein's identity and their limits", "[long]") {
  for (const Index keys : {2, 8, 128, 2048}) {
    CHECK(independent_row(0, keys).entropy == 1);
    // Second order in small s: H = log T - s^2 (1 - 1/T) / 2.
    const auto t = static_cast<double>(keys);
    CHECK_THAT((1 - independent_row(1e-3, keys).entropy) * std::log(t),
               WithinRel(0.5e-6 * (1 - 1 / t), 1e-3));
    for (const double s : {0.01, 0.3, 1.0, 2.5, 6.0, 30.0}) {  // the sums cost s^2
      const IndependentRow row = independent_row(s, keys);
      INFO("T " << keys << " s " << s);
      // E sum p_i x_i = s^2 (1 - E sum p_i^2), by integration by parts over each x_i.
      CHECK_THAT(row.mean_logit, WithinAbs(s * s * (1 - row.square_weight), 1e-9 * (1 + s * s)));
      CHECK(row.entropy > 0);
      CHECK(row.entropy < 1);
    }
  }
}

TEST_CASE("two keys: the softmax is a logistic function of one normal difference") {
  // E of the binary entropy of 1/(1 + exp(-u)), u normal with variance 2 s^2, by a plain sum.
  for (const double s : {0.5, 2.0, 5.0}) {
    double entropy = 0, weight = 0;
    for (double z = -9; z <= 9; z += 1e-3) {
      const double u = std::sqrt(2.0) * s * z, p = 1 / (1 + std::exp(-u));
      const double density = std::exp(-z * z / 2);
      weight += density;
      if (p > 0 && p < 1) entropy -= density * (p * std::log(p) + (1 - p) * std::log1p(-p));
    }
    CHECK_THAT(independent_row(s, 2).entropy, WithinAbs(entropy / weight / std::log(2.0), 1e-9));
  }
}

TEST_CASE("the random energy model is the limit of long rows, and lies below finite ones") {
  CHECK_THAT(freezing_point(128), WithinAbs(std::sqrt(2 * std::log(128.0)), 1e-14));
  CHECK_THAT(random_energy_entropy(1, 128), WithinAbs(0.897, 5e-4));
  CHECK_THAT(random_energy_entropy(2, 128), WithinAbs(0.588, 5e-4));
  CHECK_THAT(random_energy_entropy(3, 128), WithinAbs(0.073, 5e-4));
  CHECK(random_energy_entropy(4, 128) == 0);
  CHECK_THAT(independent_row(1, 128).entropy, WithinAbs(0.8998, 5e-5));
  CHECK_THAT(independent_row(2, 128).entropy, WithinAbs(0.6583, 5e-5));
  CHECK_THAT(independent_row(3, 128).entropy, WithinAbs(0.4479, 5e-5));
  for (const double share : {0.3, 0.7, 1.0, 1.5}) {
    double last = 1;
    for (const Index keys : {8, 64, 512, 2048}) {
      const double s = share * freezing_point(keys);
      const double gap = independent_row(s, keys).entropy - random_energy_entropy(s, keys);
      INFO("T " << keys << " s " << s << " gap " << gap);
      CHECK(gap > 0);
      CHECK(gap < last);
      last = gap;
    }
  }
}

TEST_CASE("rows out of range are refused by name") {
  CHECK_THROWS_WITH(independent_row(-1, 8), StartsWith("logit_std must ") && EndsWith(" -1"));
  CHECK_THROWS_WITH(independent_row(1, 1), StartsWith("length must ") && EndsWith(" 1"));
  CHECK_THROWS_WITH(random_energy_entropy(101, 8),
                    StartsWith("logit_std must ") && EndsWith(" 101"));
}
