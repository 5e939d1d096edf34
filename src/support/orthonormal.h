// Orthonormal bases.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Q of the QR decomposition of `matrix`, which has no fewer rows than columns and full rank: as many
/// orthonormal columns as it has, each with its sign such that the diagonal of R is positive. Of
/// independent normal numbers it is uniformly distributed (Mezzadri, 2007, arXiv:math-ph/0609050).
Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& matrix);

}  // namespace eigenscope
