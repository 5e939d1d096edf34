// Eigenvalues of a query-key matrix.
#pragma once

#include <Eigen/Core>
#include <complex>

namespace eigenscope {

/// The eigenvalues of a square real matrix, in no particular order (it differs between builds).
/// Throws InvalidArgument ("matrix") when it is empty, not square or not finite, and
/// std::runtime_error when the QR iteration does not converge.
Eigen::VectorXcd eigenvalues_of_matrix(const Eigen::MatrixXd& matrix);

/// The order in which eigenvalues are shown: decreasing modulus, then decreasing imaginary part.
void sort_for_display(Eigen::VectorXcd& eigenvalues);

}  // namespace eigenscope
