#include "spectrum/directionality.h"

#include <cmath>
#include <limits>

#include "support/row_forms.h"

namespace eigenscope {
namespace {

constexpr double kDeviations = 2;

double excess(const Eigen::VectorXd& norms) {
  const auto n = static_cast<double>(norms.size());
  const double mean = norms.mean();
  const double deviation = std::sqrt((norms.array() - mean).square().sum() / (n - 1));
  return (norms.array() - (mean + kDeviations * deviation)).max(0).sum();
}

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// Norms of the rows x of `left` times another factor, from the other's `gram` G (d_h x d_h):
/// squared they are x^T G x, and x^T U x for the triangle U of G with all entries above its diagonal twice, which is
/// half the work.
template <class Scalar>
Eigen::VectorXd row_norms(const Matrix<Scalar>& left, const Eigen::MatrixXd& gram) {
  const double largest = gram.diagonal().maxCoeff();  // the largest entry of all
  if (!(largest > 0)) return Eigen::VectorXd::Zero(left.rows());
  Eigen::MatrixXd triangle = gram.triangularView<Eigen::StrictlyUpper>();
  triangle *= 2 / largest;
  triangle.diagonal() = gram.diagonal() / largest;
  const Matrix<Scalar> half = triangle.cast<Scalar>();
  return std::sqrt(largest) * row_forms(left, half).cwiseMax(0).cwiseSqrt();
}

template <class Scalar>
double of_factors(const Matrix<Scalar>& query, const Matrix<Scalar>& key,
                  const FactorProducts& products) {
  return directionality(row_norms(query, products.key), row_norms(key, products.query));
}

}  // namespace

double directionality(const Eigen::VectorXd& rows, const Eigen::VectorXd& columns) {
  if (rows.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double of_rows = excess(rows), of_columns = excess(columns);
  const double all = of_rows + of_columns;
  return all == 0 ? 0 : (of_columns - of_rows) / all;
}

double directionality_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                                 const FactorProducts& products) {
  return of_factors(query, key, products);
}

double directionality_of_factors(const Eigen::MatrixXf& query, const Eigen::MatrixXf& key,
                                 const FactorProducts& products) {
  return of_factors(query, key, products);
}

}  // namespace eigenscope
