#include <algorithm>
#include <cmath>

#include "labs/latent_posterior.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/normal_matrix.h"
#include "support/random.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kWidth = 16, kPrototypes = 64, kTokens = 400;
/// Standard deviation of the logarithm of unequal norms.
constexpr double kNormSpread = 0.5;

/// Streams of one draw.
enum Stream : std::uint64_t { prototypes, noise, norms, classes, shuffle, kStreams };

/// Mean cross-entropy of the softmax of scale times the logits (keys x tokens) with the true keys, its
/// derivative by the scale, and the mean row entropy.
struct Rows {
  double loss = 0, slope = 0, entropy = 0;

  Rows(const MatrixXd& logits, const std::vector<Index>& truth, double scale) {
    VectorXd weight(logits.rows());
    for (Index t = 0; t < logits.cols(); ++t) {
      const double most = logits.col(t).maxCoeff();
      double sum = 0, mean = 0;
      for (Index k = 0; k < logits.rows(); ++k) {
        weight[k] = exp_nonpositive(scale * (logits(k, t) - most));
        sum += weight[k];
        mean += weight[k] * (logits(k, t) - most);
      }
      mean /= sum;
      const double logit = logits(truth[static_cast<std::size_t>(t)], t) - most;
      const double log_sum = std::log(sum);
      loss += log_sum - scale * logit;
      slope += mean - logit;
      entropy += log_sum - scale * mean;
    }
    const auto count = static_cast<double>(logits.cols());
    loss /= count;
    slope /= count;
    entropy /= count;
  }
};

/// Loss at the best scale: the loss is convex in it.
double tuned(const MatrixXd& logits, const std::vector<Index>& truth) {
  double low = std::log(1e-3), high = std::log(1e2);
  for (int i = 0; i < 18; ++i) {
    const double middle = (low + high) / 2;
    (Rows(logits, truth, std::exp(middle)).slope > 0 ? high : low) = middle;
  }
  return Rows(logits, truth, std::exp((low + high) / 2)).loss;
}

VectorXd with_mean_one(const VectorXd& values) { return values / values.mean(); }

}  // namespace

LatentClasses::LatentClasses(const ClassSettings& settings) : settings_(settings) {
  checked(kAnisotropy, settings.anisotropy);
  checked(kSignal, settings.signal);
  checked(kRepeats, static_cast<double>(settings.repeats));
  if (settings.exponents.empty()) throw InvalidArgument("exponents", "have an entry");
  for (const double exponent : settings.exponents) checked(kExponent, exponent);
  const VectorXd share = VectorXd::LinSpaced(kWidth, 0, 1);
  precision_ = with_mean_one((share * std::log(settings.anisotropy)).array().exp().matrix());
  sums_.resize(settings.exponents.size());
}

bool LatentClasses::advance() {
  if (done_ == settings_.repeats) return true;
  const std::uint64_t seed = settings_.seed;
  const auto stream = [&](Stream kind) {
    return static_cast<std::uint64_t>(done_) * kStreams + kind;
  };
  MatrixXd keys = normal_matrix(kWidth, kPrototypes, seed, stream(prototypes)).cast<double>();
  const VectorXd spread = normal_matrix(kPrototypes, 1, seed, stream(norms)).cast<double>();
  for (Index k = 0; k < kPrototypes; ++k) {
    const double square = keys.col(k).cwiseAbs2().dot(precision_);
    const double grow = settings_.norms == KeyNorms::equal ? 1 : std::exp(kNormSpread * spread[k]);
    keys.col(k) *= grow * settings_.signal / std::sqrt(square);
  }
  MatrixXd tokens = normal_matrix(kWidth, kTokens, seed, stream(noise)).cast<double>();
  tokens = precision_.cwiseSqrt().cwiseInverse().asDiagonal() * tokens;
  std::vector<Index> truth;
  for (Index t = 0; t < kTokens; ++t) {
    truth.push_back(static_cast<Index>(
        random_below(kPrototypes, seed, stream(classes), static_cast<std::uint64_t>(t))));
    tokens.col(t) += keys.col(truth.back());
  }
  std::vector<Index> order = in_order(kWidth);
  shuffle_range(order, seed, stream(shuffle));

  const auto logits_of = [&](const VectorXd& spectrum, bool corrected) {
    MatrixXd logits = (spectrum.asDiagonal() * keys).transpose() * tokens;
    if (corrected) {
      const VectorXd squares = keys.cwiseAbs2().transpose() * spectrum;
      logits.colwise() -= squares / 2;
    }
    return logits;
  };
  const bool corrected = settings_.norms == KeyNorms::corrected;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const VectorXd spectrum =
        with_mean_one(precision_.array().pow(settings_.exponents[i]).matrix());
    VectorXd shuffled(kWidth);
    for (Index j = 0; j < kWidth; ++j) shuffled[j] = spectrum[order[static_cast<std::size_t>(j)]];
    const MatrixXd aligned = logits_of(spectrum, corrected), other = logits_of(shuffled, corrected);
    const Rows plain(aligned, truth, 1);
    const double values[] = {plain.loss, tuned(aligned, truth),
                             plain.entropy / std::log(double(kPrototypes)),
                             Rows(other, truth, 1).loss, tuned(other, truth)};
    for (std::size_t m = 0; m < sums_[i].size(); ++m) sums_[i][m].add(values[m]);
  }
  posterior_.add(Rows(logits_of(precision_, true), truth, 1).loss);
  return ++done_ == settings_.repeats;
}

double LatentClasses::progress() const {
  return static_cast<double>(done_) / static_cast<double>(settings_.repeats);
}

std::vector<ClassRow> LatentClasses::rows() const {
  std::vector<ClassRow> rows;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const VectorXd spectrum =
        with_mean_one(precision_.array().pow(settings_.exponents[i]).matrix());
    const double variance = (spectrum.array() - 1).square().mean();
    rows.push_back({settings_.exponents[i], variance, sums_[i][0].estimate(),
                    sums_[i][1].estimate(), sums_[i][2].estimate(), sums_[i][3].estimate(),
                    sums_[i][4].estimate()});
  }
  return rows;
}

}  // namespace eigenscope
