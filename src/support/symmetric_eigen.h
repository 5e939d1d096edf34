// Eigenvalues and eigenvectors of symmetric matrices.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// The decomposition V diag(values) V^T of a symmetric matrix.
struct SymmetricEigen {
  Eigen::VectorXd values;   ///< n eigenvalues, rising.
  Eigen::MatrixXd vectors;  ///< n x n, orthonormal: column i belongs to values[i].
};

/// `matrix` is n x n, and its lower triangle is read. Both functions throw std::runtime_error where the
/// iteration does not converge, as with entries that are not finite. Eigen's solver is compiled in their file alone,
/// since each file that names it takes seconds.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

/// The n eigenvalues alone, rising, in less time.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

}  // namespace eigenscope
