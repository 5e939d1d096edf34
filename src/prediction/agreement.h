// How well predictions agree with what was measured.
#pragma once

#include <Eigen/Core>

#include "statistics/bootstrap.h"

namespace eigenscope {

struct Agreement {
  Eigen::Index pairs = 0;  ///< without NaN
  Interval rank_correlation;
  Interval error;  ///< mean |predicted - measured|
};

/// Agreement over the pairs without NaN. The intervals are the percentiles 2.5 and 97.5 of
/// these resamples, a percentile bootstrap. A resample whose rank correlation is not defined is left out.
/// Throws InvalidArgument ("measured") when the lengths differ.
Agreement agreement(const Eigen::VectorXd& predicted, const Eigen::VectorXd& measured,
                    const Resamples& resamples);

}  // namespace eigenscope
