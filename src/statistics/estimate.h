// A sampled number with its standard error.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace eigenscope {

/// A sampled mean with its standard error; NaN where it is not defined.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
};

/// The mean of n values from their sum and the sum of their squares.
inline Estimate mean_estimate(double sum, double square_sum, double n) {
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, square_sum / n - mean * mean) / (n - 1))};
}

/// Values that are added up for their mean.
class MeanSums {
 public:
  void add(double value) {
    count_ += 1;
    sum_ += value;
    square_ += value * value;
  }
  double count() const { return count_; }
  /// NaN for no value, its error for one.
  Estimate estimate() const {
    return count_ == 0 ? Estimate{} : mean_estimate(sum_, square_, count_);
  }

 private:
  double count_ = 0, sum_ = 0, square_ = 0;
};

}  // namespace eigenscope
