// Means over data sets or training runs, with their standard errors.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>

#include "statistics/estimate.h"

namespace eigenscope {

/// Mean of value(0) ... value(count - 1); NaN for none, its error for one.
template <class Value>
Estimate estimate_over(std::size_t count, const Value& value) {
  MeanSums sums;
  for (std::size_t i = 0; i < count; ++i) sums.add(value(i));
  return sums.estimate();
}

/// Mean of the entries of a vector or a list; NaN for none, its error for one.
template <class Values>
Estimate estimate_of(const Values& values) {
  MeanSums sums;
  for (const double value : values) sums.add(value);
  return sums.estimate();
}

/// The mean of models x passages with both spreads in its error; of one model, the spread over passages. NaN for
/// none.
inline Estimate estimate_over_both(const Eigen::MatrixXd& values) {
  if (values.size() == 0) return {};
  const Eigen::VectorXd by_passage = values.colwise().mean(), by_model = values.rowwise().mean();
  const double over_passages = estimate_of(by_passage).error;
  const double over_models = values.rows() > 1 ? estimate_of(by_model).error : 0;
  return {values.mean(), std::hypot(over_passages, over_models)};
}

}  // namespace eigenscope
