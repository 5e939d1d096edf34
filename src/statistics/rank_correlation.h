// Spearman's rank correlation.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace eigenscope {

/// Pairs for rank correlations of many resamples, sorted once for all of them.
class RankedPairs {
 public:
  /// Both have one length and no NaN.
  RankedPairs(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

  /// Spearman's rank correlation of the pairs with the indices `drawn`, in [-1, 1]; equal values share the
  /// mean of their ranks. NaN for fewer than two pairs and where either side is constant.
  double correlation(const std::vector<Eigen::Index>& drawn) const;

 private:
  std::vector<Eigen::Index> a_, b_;  // place of each value among the different ones
};

/// Spearman's rank correlation of all pairs.
double rank_correlation(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

/// The partial correlation of a and b given c, from the three pairwise correlations.
double partial_correlation(double ab, double ac, double bc);

/// Mutual information in bits of a Gaussian copula with this rank correlation: -log2(1 - r^2)/2 with
/// r = 2 sin(pi rho/6), which has no bound as |rho| nears 1.
double copula_information(double rank_correlation);

/// Ranks from 1 minus their mean, of values without NaN; equal ones share the mean of their ranks.
Eigen::VectorXd centred_ranks(const Eigen::VectorXd& values);

}  // namespace eigenscope
