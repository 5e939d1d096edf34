#include "support/widened.h"

namespace eigenscope {

void widen(const float* from, Eigen::Index count, double* to) {
  for (Eigen::Index i = 0; i < count; ++i) to[i] = from[i];
}

Eigen::MatrixXd widened(const Eigen::MatrixXf& values) {
  Eigen::MatrixXd wide(values.rows(), values.cols());
  widen(values.data(), values.size(), wide.data());
  return wide;
}

}  // namespace eigenscope
