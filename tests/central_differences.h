// Gradients by central differences, for the tests.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace eigenscope::testing {

/// Norm of (numeric - given gradient of `loss` by `values`) over the numeric one's. A copy of the gradient is taken,
/// since `loss` may compute it again.
inline double gradient_error(const std::function<double()>& loss,
                             Eigen::Ref<Eigen::MatrixXd> values, const Eigen::MatrixXd gradient) {
  constexpr double kStep = 1e-5;
  Eigen::VectorXd numeric(values.size());
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    double& value = values.reshaped()[i];
    const double kept = value;
    value = kept + kStep;
    const double above = loss();
    value = kept - kStep;
    const double below = loss();
    value = kept;
    numeric[i] = (above - below) / (2 * kStep);
  }
  return (numeric - gradient.reshaped()).norm() / numeric.norm();
}

}  // namespace eigenscope::testing
