#include "spectrum/weighted_spectrum.h"

#include <cmath>

#include "spectrum/eigenvalues.h"
#include "support/decompositions.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/vector_width.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// A matrix L with L L^T = `gram`, which is symmetric without negative eigenvalues: Cholesky's, with the largest entry
/// of the diagonal that is left next, since keys may depend on each other. Columns that are not needed are zero.
EIGENSCOPE_INLINE void take_root(MatrixXd& gram, MatrixXd& root) {
  const Index n = gram.rows();
  for (Index k = 0; k < n; ++k) {
    Index pivot = 0;
    const double largest = gram.diagonal().maxCoeff(&pivot);
    if (!(largest > 0)) return;  // below zero is rounding
    double* const root_column = root.col(k).data();
    const double* const next = gram.col(pivot).data();
    const double scale = 1 / std::sqrt(largest);
    for (Index i = 0; i < n; ++i) root_column[i] = next[i] * scale;
    for (Index j = 0; j < n; ++j) {
      const double factor = root_column[j];
      if (factor == 0) continue;
      double* const column = gram.col(j).data();
      for (Index i = 0; i < n; ++i) column[i] -= root_column[i] * factor;
    }
    gram.row(pivot).setZero();
    gram.col(pivot).setZero();
  }
}

}  // namespace

// The product of the two symmetric matrices is similar to a symmetric one, L^T query L with key = L L^T, whose
// eigenvalues take a third of the time.
VectorXd squared_singular_values(const FactorProducts& products) {
  if (!products.query.allFinite() || !products.key.allFinite()) {
    throw InvalidArgument("matrix", "have finite entries");
  }
  MatrixXd gram = products.key, root = MatrixXd::Zero(gram.rows(), gram.cols());
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA { take_root(gram, root); });
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
  WeightedSpectrum spectrum;
  spectrum.traces = products.traces();
  spectrum.eigenvalues = eigenvalues_of_matrix(products.core, products.precision);
  sort_for_display(spectrum.eigenvalues);
  spectrum.singular_values = squared_singular_values(products).reverse().cwiseSqrt();
  return spectrum;
}

}  // namespace eigenscope
