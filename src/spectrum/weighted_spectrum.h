// The spectrum of a query-key matrix in the metric of some tokens: that of C^(1/2) W C^(1/2), C their covariance.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "spectrum/traces.h"

namespace eigenscope {

/// Logits of independent centred tokens of covariance C are x^T W y, a bilinear form whose singular values
/// are those of A = C^(1/2) W C^(1/2). C = I gives the bare spectrum.
struct WeightedSpectrum {
  Traces traces;  ///< xi = tr(W C), eta_S = tr((W C)^2), eta_F = ||A||_F^2
  /// Eigenvalues of W C, which are those of A, that need not be 0, in the order of display.
  Eigen::VectorXcd eigenvalues;
  Eigen::VectorXd singular_values;  ///< singular values of A that need not be 0, decreasing

  /// The least number of singular values whose squares add up to 90% of all; 0 for W C = 0.
  Eigen::Index components() const;
};

/// ||(A + A^T)/2||_F^2 / ||A||_F^2 = (1 + eta_S/eta_F)/2, in [0, 1]; NaN for W C = 0.
inline double symmetric_share(const Traces& traces) {
  return 0.5 * (1 + traces.eta_s / traces.eta_f);
}

/// The squares of the singular values of A that need not be 0, increasing; errors and precision as of
/// weighted_spectrum().
Eigen::VectorXd squared_singular_values(const FactorProducts& products);
/// The largest singular value of A alone; errors and precision as of weighted_spectrum().
double largest_singular_value(const FactorProducts& products);

/// The spectrum from the d_h x d_h products of a head, in O(d_h^3): neither C^(1/2) nor a d x d matrix is formed.
/// Singular values are off by about 1e-8 of the largest, those of products in single precision by 1e-3 of it. Throws
/// as eigenvalues_of_matrix does ("matrix").
WeightedSpectrum weighted_spectrum(const FactorProducts& products);

}  // namespace eigenscope
