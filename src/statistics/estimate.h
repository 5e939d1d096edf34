// Sampled numbers with their uncertainty: means with standard errors, functions of a mean profile
// by the jackknife, shares with their intervals.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
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

/// A function of the mean profile, corrected for its bias of order 1/groups, with its standard error
/// (Efron and Stein, 1981). Column g of `sums` and `counts`, both T x at least `groups`, holds what the
/// rows of group g add; the mean profile, an ArrayXd of T entries, is sums over counts. NaN where the
/// function is NaN for the whole or without some group.
template <class Function>
Estimate jackknife(const Eigen::ArrayXXd& sums, const Eigen::ArrayXXd& counts, Eigen::Index groups,
                   const Function& of_profile) {
  using Eigen::ArrayXd;
  const ArrayXd sum = sums.rowwise().sum(), count = counts.rowwise().sum();
  const double all = of_profile(ArrayXd(sum / count));
  ArrayXd without(groups);
  for (Eigen::Index g = 0; g < groups; ++g) {
    without[g] = of_profile(ArrayXd((sum - sums.col(g)) / (count - counts.col(g))));
  }
  if (std::isnan(all) || without.isNaN().any()) return {};
  const auto n = static_cast<double>(groups);
  const double mean = without.mean();
  return {n * all - (n - 1) * mean, std::sqrt((n - 1) / n * (without - mean).square().sum())};
}

/// A share of n trials with its 95% interval (Wilson, 1927); NaN for no trial.
struct Share {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = value, high = value;
};

inline Share share_of(double count, double trials) {
  if (!(trials > 0)) return {};
  constexpr double kZ = 1.959963984540054;
  const double share = count / trials, square = kZ * kZ / trials;
  const double centre = (share + square / 2) / (1 + square);
  const double half =
      kZ / (1 + square) * std::sqrt(share * (1 - share) / trials + square / (4 * trials));
  return {share, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

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
