// A quadratic form of each row of a matrix.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// x^T U x of each row x of `rows` (n x m), for the m x m matrix `upper`, whose entries below the diagonal are taken
/// as zero, in n m^2 operations and without an n x m product in memory. Products with U are sums in the precision of
/// the factors, which are added up in double. The same bits with vectors of any width.
Eigen::VectorXd row_forms(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& upper);
Eigen::VectorXd row_forms(const Eigen::MatrixXf& rows, const Eigen::MatrixXf& upper);

}  // namespace eigenscope
