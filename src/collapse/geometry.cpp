#include "collapse/geometry.h"

#include <cmath>
#include <limits>

#include "support/decompositions.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

// Squared singular values, from the smaller of the two Gram matrices.
Eigen::ArrayXd squared_singular_values(const Eigen::MatrixXd& matrix) {
  const Eigen::MatrixXd gram = matrix.rows() <= matrix.cols() ? times(matrix, matrix.transpose())
                                                              : transposed_times(matrix, matrix);
  return symmetric_eigenvalues(gram).array().max(0.0);
}

double entropy_of_shares(const Eigen::ArrayXd& shares) {
  double entropy = 0;
  for (const double p : shares) {
    if (p > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

}  // namespace

TokenGeometry token_geometry(const Eigen::MatrixXd& tokens) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  // Scaling by the largest entry keeps the squares of a deep stack's tokens in range.
  const double largest = tokens.cwiseAbs().maxCoeff();
  if (!(largest > 0) || !std::isfinite(largest)) return {kNaN, kNaN, kNaN, kNaN};
  const Eigen::MatrixXd x = tokens / largest;
  const auto count = static_cast<double>(x.cols());
  TokenGeometry geometry;
  geometry.residual = (x.colwise() - x.rowwise().mean()).norm() / x.norm();
  const Eigen::ArrayXd squares = squared_singular_values(x);
  geometry.stable_rank = squares.sum() / squares.maxCoeff();
  const Eigen::ArrayXd singular = squares.sqrt();
  geometry.effective_rank = std::exp(entropy_of_shares(singular / singular.sum()));
  // The sum over all pairs is the squared norm of the sum of unit vectors.
  const Eigen::MatrixXd unit = x.colwise().normalized();
  const double all_pairs = unit.rowwise().sum().squaredNorm();
  geometry.cosine = x.cols() < 2 ? kNaN : (all_pairs - count) / (count * (count - 1));
  return geometry;
}

Eigen::MatrixXd cosine_matrix(const Eigen::MatrixXd& tokens) {
  const Eigen::MatrixXd unit = tokens.array().rowwise() / tokens.colwise().norm().array();
  return unit.transpose() * unit;
}

double spectral_norm(const Eigen::MatrixXd& matrix) {
  return std::sqrt(squared_singular_values(matrix).maxCoeff());
}

double entropy_lower_bound(double norm, Eigen::Index keys) {
  if (keys < 2) return 0;
  const auto n = static_cast<double>(keys);
  const double beta = std::exp(-norm * std::sqrt(n / (n - 1)));
  if (beta == 0) return 0;  // the norm may be infinite
  const double total = 1 + (n - 1) * beta;
  return std::log(total) + norm * std::sqrt(n * (n - 1)) * beta / total;
}

}  // namespace eigenscope
