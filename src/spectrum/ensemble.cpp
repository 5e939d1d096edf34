#include "spectrum/ensemble.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "spectrum/eigenvalues.h"
#include "support/decompositions.h"
#include "support/error.h"
#include "support/normal_matrix.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Streams of the ensembles' draws; simulations use the streams from 0 on for their samples.
constexpr std::uint64_t kSpectrumStream = std::uint64_t{1} << 62;
constexpr std::uint64_t kBasisStream = kSpectrumStream + 1;

// Beyond it the products of a dense matrix take seconds.
constexpr Index kLargestDense = 1024;

VectorXd raw_eigenvalues(const EnsembleSettings& settings) {
  const Index d = settings.width;
  switch (settings.kind) {
    case EnsembleKind::two_point:
      return VectorXd::NullaryExpr(d, [](Index i) { return i % 2 == 0 ? 1.0 : -1.0; });
    case EnsembleKind::power_law:
      return VectorXd::NullaryExpr(d, [](Index i) { return 1.0 / static_cast<double>(i + 1); });
    case EnsembleKind::uniform: {
      // The normal distribution function of a normal number is uniform.
      return normal_matrix(d, 1, settings.seed, kSpectrumStream)
          .cast<double>()
          .unaryExpr([](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); });
    }
    case EnsembleKind::list:
      return Eigen::Map<const VectorXd>(settings.eigenvalues.data(),
                                        static_cast<Index>(settings.eigenvalues.size()));
    default:
      return normal_matrix(d, 1, settings.seed, kSpectrumStream).cast<double>();
  }
}

void check_list(const std::vector<double>& eigenvalues) {
  if (eigenvalues.size() < 2) {
    throw InvalidArgument("eigenvalues", "have at least two numbers");
  }
  checked(shared::kWidth, static_cast<double>(eigenvalues.size()));
  double least = eigenvalues.front(), largest = least;
  for (const double value : eigenvalues) {
    checked(shared::kEigenvalue, value);
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  // Closer together their differences are rounding errors.
  if (!(largest - least > 1e-9 * std::max(std::abs(least), std::abs(largest)))) {
    throw InvalidArgument("eigenvalues", "have two that differ by a part in 10^9");
  }
}

}  // namespace

Ensemble::Ensemble(const EnsembleSettings& settings) {
  if (settings.kind == EnsembleKind::list) {
    check_list(settings.eigenvalues);
    width_ = static_cast<Index>(settings.eigenvalues.size());
  } else {
    width_ = static_cast<Index>(checked(shared::kWidth, static_cast<double>(settings.width)));
  }
  checked(shared::kSeed, static_cast<double>(settings.seed));
  const bool non_symmetric =
      settings.kind == EnsembleKind::shifted_gaussian || settings.kind == EnsembleKind::factored;
  if (non_symmetric) {
    draw_non_symmetric(settings);
  } else {
    draw_symmetric(settings);
  }
  collect_invariants();
}

void Ensemble::draw_symmetric(const EnsembleSettings& settings) {
  VectorXd values = raw_eigenvalues(settings);
  values /= values.cwiseAbs().maxCoeff();  // squares of tiny ones must not underflow
  values.array() -= values.mean();
  values /= std::sqrt(values.squaredNorm() / static_cast<double>(width_));
  spread_diagonal_ = values;
  spread_eigenvalues_ = values;
  diagonal_single_ = values.cast<float>();
}

void Ensemble::draw_non_symmetric(const EnsembleSettings& settings) {
  Index n = width_;
  if (settings.kind != EnsembleKind::factored && n > kLargestDense) {
    throw InvalidArgument("width",
                          "be at most " + std::to_string(kLargestDense) +
                              " for a dense matrix, which costs the cube of it",
                          "found " + std::to_string(n));
  }
  if (settings.kind == EnsembleKind::factored) {
    n = static_cast<Index>(checked(shared::kHeadWidth, static_cast<double>(settings.head_width)));
    if (n > width_) {
      throw InvalidArgument(
          "head_width", "be at most the width",
          "width " + std::to_string(width_) + ", head_width " + std::to_string(n));
    }
    if (n < 2 || n > kLargestDense) {
      throw InvalidArgument("head_width",
                            "be an integer from 2 to " + std::to_string(kLargestDense) +
                                " with the factored ensemble",
                            "found " + std::to_string(n));
    }
    basis_ =
        orthonormal_columns(normal_matrix(width_, n, settings.seed, kBasisStream).cast<double>());
    basis_single_ = basis_.cast<float>();
    transposed_basis_single_ = basis_single_.transpose();
  }
  MatrixXd z = normal_matrix(n, n, settings.seed, kSpectrumStream).cast<double>();
  z.diagonal().array() -= z.trace() / static_cast<double>(n);
  z *= std::sqrt(static_cast<double>(n)) / z.norm();
  spread_matrix_ = z;
  spread_single_ = z.cast<float>();
}

void Ensemble::collect_invariants() {
  if (symmetric()) {
    const auto z = spread_diagonal_.array();
    square_ = z.square().sum();
    cube_ = z.cube().sum();
    fourth_ = z.square().square().sum();
    symmetric_part_ = 4 * square_;
    gram_cross_ = 2 * cube_;
    gram_square_ = fourth_;
    return;
  }
  const MatrixXd& z = spread_matrix_;
  const MatrixXd z2 = z * z;
  const MatrixXd gram = z * z.transpose();
  square_ = z2.trace();
  cube_ = z2.cwiseProduct(z.transpose()).sum();
  fourth_ = z2.cwiseProduct(z2.transpose()).sum();
  symmetric_part_ = 2 * (z.squaredNorm() + square_);
  gram_cross_ = 2 * z.cwiseProduct(gram).sum();
  gram_square_ = gram.squaredNorm();
}

Index Ensemble::core_width() const {
  return symmetric() ? spread_diagonal_.size() : spread_matrix_.rows();
}

double Ensemble::minimum_variance(double mean) const {
  const double share = static_cast<double>(width_) / static_cast<double>(core_width());
  return mean * mean * (share - 1);
}

bool Ensemble::allows(double mean, double variance) const {
  return variance >= minimum_variance(mean) * (1 - 1e-12);
}

EnsembleWeights Ensemble::weights(double mean, double variance) const {
  checked(shared::kMean, mean);
  checked(shared::kVariance, variance);
  const double least = minimum_variance(mean);
  if (!allows(mean, variance)) {
    throw InvalidArgument("variance",
                          "be at least the rank floor " + shown(least) + " with mean " +
                              shown(mean) +
                              " and a head narrower than the width (the zero eigenvalues outside "
                              "the head's subspace have this variance)",
                          "found " + shown(variance));
  }
  const double share = static_cast<double>(width_) / static_cast<double>(core_width());
  return {mean * share, std::sqrt(share * std::max(0.0, variance - least))};
}

SpectralMoments Ensemble::moments(double mean, double variance) const {
  const auto [c, s] = weights(mean, variance);
  const auto n = static_cast<double>(core_width());
  const double c2 = c * c, s2 = s * s;
  SpectralMoments result;
  result.width = width_;
  // tr Z = 0 and ||Z||_F^2 = n by construction.
  result.traces = {c * n, c2 * n + s2 * square_, (c2 + s2) * n};
  result.quartic_s =
      c2 * c2 * n + 6 * c2 * s2 * square_ + 4 * c * s * s2 * cube_ + s2 * s2 * fourth_;
  result.quartic_f = c2 * c2 * n + c2 * s2 * (symmetric_part_ + 2 * n) +
                     2 * c * s * s2 * gram_cross_ + s2 * s2 * gram_square_;
  return result;
}

Eigen::VectorXcd Ensemble::eigenvalues(double mean, double variance) {
  const auto [c, s] = weights(mean, variance);
  if (spread_eigenvalues_.size() == 0) spread_eigenvalues_ = eigenvalues_of_matrix(spread_matrix_);
  return (spread_eigenvalues_.array() * s + c).matrix();
}

MatrixXd Ensemble::matrix(double mean, double variance) const {
  const auto [c, s] = weights(mean, variance);
  return combined(c, s);
}

MatrixXd Ensemble::combined(double centre, double spread) const {
  if (symmetric()) return (spread_diagonal_.array() * spread + centre).matrix().asDiagonal();
  MatrixXd core = spread * spread_matrix_;
  core.diagonal().array() += centre;
  return basis_.size() == 0 ? core : MatrixXd(basis_ * core * basis_.transpose());
}

void Ensemble::apply(const Eigen::VectorXf& x, Eigen::VectorXf& centre,
                     Eigen::VectorXf& spread) const {
  if (symmetric()) {
    centre = x;
    spread = diagonal_single_.cwiseProduct(x);
  } else if (basis_.size() == 0) {
    centre = x;
    spread.noalias() = spread_single_ * x;
  } else {
    const Eigen::VectorXf inside = transposed_basis_single_ * x;
    const Eigen::VectorXf turned = spread_single_ * inside;
    centre.noalias() = basis_single_ * inside;
    spread.noalias() = basis_single_ * turned;
  }
}

}  // namespace eigenscope
