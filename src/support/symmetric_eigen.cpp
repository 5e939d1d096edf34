#include "support/symmetric_eigen.h"

#include <Eigen/Eigenvalues>
#include <stdexcept>

namespace eigenscope {
namespace {

Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(const Eigen::MatrixXd& matrix, int options) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix, options);
  if (solver.info() != Eigen::Success) {
    throw std::runtime_error("matrix: the eigenvalue iteration did not converge");
  }
  return solver;
}

}  // namespace

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix) {
  const auto solver = solved(matrix, Eigen::ComputeEigenvectors);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return solved(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace eigenscope
