// Numbers of single precision in double precision. Where the caller is compiled for its size, Eigen's cast
// takes several times as long.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// The `count` numbers at `from` as doubles.
void widen(const float* from, Eigen::Index count, double* to);

Eigen::MatrixXd widened(const Eigen::MatrixXf& values);

}  // namespace eigenscope
