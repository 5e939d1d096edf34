// The mean of what several data sets or training runs give, with its standard error.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>

#include "statistics/estimate.h"

namespace eigenscope {

/// Mean of value(0) ... value(count - 1); NaN for none, its error for one.
template <class Value>
Estimate estimate_over(std::size_t count, const Value& value) {
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double one = value(i);
    sum += one;
    square += one * one;
  }
  if (count == 0) return {};
  return mean_estimate(sum, square, static_cast<double>(count));
}

/// The same of the entries of a vector.
inline Estimate estimate_of(const Eigen::VectorXd& values) {
  return estimate_over(static_cast<std::size_t>(values.size()),
                       [&](std::size_t i) { return values[static_cast<Eigen::Index>(i)]; });
}

/// The mean of models x passages with both spreads in its error; of one model, the spread over passages. NaN for
/// none.
inline Estimate estimate_over_both(const Eigen::MatrixXd& values) {
  if (values.size() == 0) return {};
  const double over_passages = estimate_of(values.colwise().mean()).error;
  const double over_models = values.rows() > 1 ? estimate_of(values.rowwise().mean()).error : 0;
  return {values.mean(), std::hypot(over_passages, over_models)};
}

}  // namespace eigenscope
