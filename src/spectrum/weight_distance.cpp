#include "spectrum/weight_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "spectrum/traces.h"
#include "spectrum/weighted_spectrum.h"
#include "support/error.h"

namespace eigenscope {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double ratio(double change, double whole) {
  return whole > 0 ? change / whole : std::numeric_limits<double>::quiet_NaN();
}

/// The products of W' - W = [query' - query, query] [key', key' - key]^T, where both have the same heads' width, which
/// are 0 to the last bit for equal factors, or else of [query', -query] [key', key]^T.
FactorProducts change_products(const QueryKeyFactors& before, const QueryKeyFactors& after) {
  if (before.query.rows() != after.query.rows()) {
    throw InvalidArgument(
        "width", "be that of both matrices",
        std::to_string(before.query.rows()) + " and " + std::to_string(after.query.rows()));
  }
  const auto beside = [](const MatrixXd& left, const MatrixXd& right) {
    MatrixXd both(left.rows(), left.cols() + right.cols());
    both << left, right;
    return both;
  };
  MatrixXd query = after.query, query_before = -before.query, key_before = before.key;
  if (before.query.cols() == after.query.cols()) {
    query -= before.query;
    query_before = before.query;
    key_before = after.key - before.key;
  }
  return products_of_factors(beside(query, query_before), beside(after.key, key_before));
}

}  // namespace

double weight_distance(const QueryKeyFactors& before, const QueryKeyFactors& after) {
  const FactorProducts change = change_products(before, after);
  const FactorProducts whole = products_of_factors(before.query, before.key);
  return ratio(std::sqrt(std::max(0.0, change.traces().eta_f)), std::sqrt(whole.traces().eta_f));
}

Eigen::Index change_rank(const QueryKeyFactors& before, const QueryKeyFactors& after) {
  constexpr double kLeast = 1e-6;
  const double whole = largest_singular_value(products_of_factors(before.query, before.key));
  const VectorXd values = weighted_spectrum(change_products(before, after)).singular_values;
  return (values.array() > kLeast * whole).count();
}

double spectrum_distance(const VectorXd& before, const VectorXd& after) {
  const Eigen::Index count = std::max(before.size(), after.size());
  VectorXd old = VectorXd::Zero(count), now = VectorXd::Zero(count);
  old.head(before.size()) = before;
  now.head(after.size()) = after;
  return ratio((now - old).norm(), old.norm());
}

}  // namespace eigenscope
