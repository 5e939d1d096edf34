// Change of a number of each head between two checkpoints.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Changes in units of the spread: the standard deviation of the first checkpoint's numbers over its heads. A change
/// that is independent of the number and r spreads large leaves both correlated by 1/sqrt(1 + r^2), 0.995 for r = 0.1.
struct Drift {
  double spread = 0;        ///< NaN for fewer than two heads
  Eigen::VectorXd of_head;  ///< (after - before) / spread; NaN where either is, or the spread is 0
  double rms = 0;           ///< root mean square over the heads with a number
  double largest = 0;       ///< largest absolute change
  double rank_correlation = 0;  ///< between both checkpoints; NaN where a list is constant
};

/// Entry h is the number of head h; heads for which either is NaN are left out of the spread, the sums and the ranks.
/// Throws InvalidArgument ("after") for lists of different lengths.
Drift drift_between(const Eigen::VectorXd& before, const Eigen::VectorXd& after);

}  // namespace eigenscope
