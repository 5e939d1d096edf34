// Eigenvalues of a query-key matrix.
#pragma once

#include <Eigen/Core>
#include <complex>

namespace eigenscope {

/// Precision of the entries of a matrix, or of computations with it.
enum class Precision { full, single };

/// The eigenvalues of a square real matrix, in no particular order (it differs between builds). In single precision, for
/// a matrix whose entries have no more, they are those of a matrix that is off by about 1e-6 of the norm, in two thirds
/// of the time. Throws InvalidArgument ("matrix") when it is empty, not square or not finite, and std::runtime_error
/// when the QR iteration does not converge.
Eigen::VectorXcd eigenvalues_of_matrix(const Eigen::MatrixXd& matrix,
                                       Precision precision = Precision::full);

/// The order in which eigenvalues are shown: decreasing modulus, then decreasing imaginary part.
void sort_for_display(Eigen::VectorXcd& eigenvalues);

}  // namespace eigenscope
