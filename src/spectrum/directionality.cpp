#include "spectrum/directionality.h"

#include <cmath>
#include <limits>

#include "support/gemm.h"

namespace eigenscope {
namespace {

constexpr double kDeviations = 2;

double excess(const Eigen::VectorXd& norms) {
  const auto n = static_cast<double>(norms.size());
  const double mean = norms.mean();
  const double deviation = std::sqrt((norms.array() - mean).square().sum() / (n - 1));
  return (norms.array() - (mean + kDeviations * deviation)).max(0).sum();
}

/// Norms of the rows of `left` `right`^T.
Eigen::VectorXd row_norms(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  const Eigen::MatrixXd seen = times(left, transposed_times(right, right));
  return left.cwiseProduct(seen).rowwise().sum().cwiseMax(0).cwiseSqrt();
}

}  // namespace

double directionality(const Eigen::VectorXd& rows, const Eigen::VectorXd& columns) {
  if (rows.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double of_rows = excess(rows), of_columns = excess(columns);
  const double all = of_rows + of_columns;
  return all == 0 ? 0 : (of_columns - of_rows) / all;
}

double directionality_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key) {
  return directionality(row_norms(query, key), row_norms(key, query));
}

}  // namespace eigenscope
