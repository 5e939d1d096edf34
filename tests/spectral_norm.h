// The largest singular value, by another way than the power iteration of the library.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "spectrum/eigenvalues.h"

namespace eigenscope::testing {

/// The square root of the largest eigenvalue of M^T M.
inline double spectral_norm(const Eigen::MatrixXd& matrix) {
  return std::sqrt(eigenvalues_of_matrix(matrix.transpose() * matrix).real().maxCoeff());
}

}  // namespace eigenscope::testing
