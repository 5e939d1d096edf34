// Decompositions of matrices: eigenvalues and eigenvectors of symmetric ones, orthonormal columns.
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

/// Q of the QR decomposition of `matrix`, which has no fewer rows than columns and full rank: as many
/// orthonormal columns as it has, each with its sign such that the diagonal of R is positive. Of
/// independent normal numbers it is uniformly distributed (Mezzadri, 2007, arXiv:math-ph/0609050).
Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& matrix);

}  // namespace eigenscope
