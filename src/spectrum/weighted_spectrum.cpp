#include "spectrum/weighted_spectrum.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "spectrum/eigenvalues.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/symmetric_eigen.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The product of the two symmetric matrices is similar to a symmetric one, L^T query L with key = L L^T, whose
// eigenvalues take a third of the time.
VectorXd squared_singular_values(const FactorProducts& products) {
  if (!products.query.allFinite() || !products.key.allFinite()) {
    throw InvalidArgument("matrix", "have finite entries");
  }
  const Eigen::LDLT<MatrixXd> factor(products.key);  // pivoted: keys may depend on each other
  MatrixXd root = factor.transpositionsP().transpose() * MatrixXd(factor.matrixL());
  // Below zero is rounding.
  root *= factor.vectorD().cwiseMax(0).cwiseSqrt().asDiagonal();
  const MatrixXd symmetric = transposed_times(root, times(products.query, root));
  return symmetric_eigenvalues(symmetric).cwiseMax(0);
}

Index WeightedSpectrum::components() const {
  constexpr double kComponentsShare = 0.9;
  const double all = singular_values.squaredNorm();
  // Rounding must not ask for one more where the sum is met exactly.
  const double enough = kComponentsShare * all * (1 - 1e-12);
  double sum = 0;
  for (Index i = 0; i < singular_values.size(); ++i) {
    if (sum >= enough) return i;
    sum += singular_values[i] * singular_values[i];
  }
  return singular_values.size();
}

double largest_singular_value(const FactorProducts& products) {
  return std::sqrt(squared_singular_values(products).maxCoeff());
}

WeightedSpectrum weighted_spectrum(const FactorProducts& products) {
  WeightedSpectrum found;
  found.traces = products.traces();
  found.eigenvalues = eigenvalues_of_matrix(products.core);
  sort_for_display(found.eigenvalues);
  found.singular_values = squared_singular_values(products).reverse().cwiseSqrt();
  return found;
}

}  // namespace eigenscope
