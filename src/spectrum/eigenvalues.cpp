#include "spectrum/eigenvalues.h"

#include <Eigen/Eigenvalues>
#include <stdexcept>

#include "support/error.h"

namespace eigenscope {

Eigen::VectorXcd eigenvalues_of_matrix(const Eigen::MatrixXd& matrix) {
  if (matrix.size() == 0 || matrix.rows() != matrix.cols()) {
    throw InvalidArgument("matrix", "be square and not empty");
  }
  if (!matrix.allFinite()) throw InvalidArgument("matrix", "have finite entries");
  // A leading dimension that is a multiple of a large power of two makes columns fall into the same
  // cache sets and doubles the time. One zero row and column more avoid that; they decouple at
  // once and leave their zero in the last place.
  const Eigen::Index n = matrix.rows();
  const Eigen::Index padded = n % 64 == 0 ? n + 1 : n;
  Eigen::MatrixXd work = Eigen::MatrixXd::Zero(padded, padded);
  work.topLeftCorner(n, n) = matrix;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(work, /*computeEigenvectors=*/false);
  if (solver.info() != Eigen::Success) {
    throw std::runtime_error("matrix: the eigenvalue iteration did not converge");
  }
  return solver.eigenvalues().head(n);
}

}  // namespace eigenscope
