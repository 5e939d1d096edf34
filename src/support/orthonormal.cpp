#include "support/orthonormal.h"

#include <Eigen/QR>

namespace eigenscope {

Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& matrix) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(matrix);
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) q.col(j) *= -1;
  }
  return q;
}

}  // namespace eigenscope
