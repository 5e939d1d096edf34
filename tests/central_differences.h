// Gradients by central differences, for the tests.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace eigenscope::testing {

/// Norm of (numeric - given gradient of `loss` by the numbers at `values`) over the numeric one's.
inline double gradient_error(const std::function<double()>& loss, double* values,
                             Eigen::Index count, const double* gradient) {
  constexpr double kStep = 1e-5;
  Eigen::VectorXd numeric(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double kept = values[i];
    values[i] = kept + kStep;
    const double above = loss();
    values[i] = kept - kStep;
    const double below = loss();
    values[i] = kept;
    numeric[i] = (above - below) / (2 * kStep);
  }
  return (numeric - Eigen::Map<const Eigen::VectorXd>(gradient, count)).norm() / numeric.norm();
}

}  // namespace eigenscope::testing
