// Rank correlations within groups, against permutations of one side.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

#include "statistics/estimate.h"

namespace eigenscope {

/// NaN where it is not defined.
struct PermutedCorrelation {
  Estimate
      value;  ///< mean over the groups of Spearman's rank correlation, with its standard error over groups
  /// Percentiles 2.5 and 97.5 of the mean with permuted values.
  double null_low = std::numeric_limits<double>::quiet_NaN();
  double null_high = std::numeric_limits<double>::quiet_NaN();
  double p =
      std::numeric_limits<double>::quiet_NaN();  ///< share of permutations at least as far from 0
};

/// Which values of a group are permuted.
enum class Permutation {
  common,    ///< all groups in one way: their values are of the same items
  separate,  ///< each group in its own way
};

/// a[g] and b[g] are the values of group g, of one length and without NaN; groups in which either is constant
/// are left out. With `common` all groups have one length. 2,000 permutations, drawn from the seed.
PermutedCorrelation permuted_correlation(const std::vector<Eigen::VectorXd>& a,
                                         const std::vector<Eigen::VectorXd>& b,
                                         Permutation permutation, std::uint64_t seed);

/// The critical value of the largest of several such means: the 95th percentile over 2,000 permutations, each in
/// its own way in every group, of the largest |mean over groups| of any row of a. a[g] has a value for each entry of
/// b[g] in each row; constant rows count as uncorrelated.
double farthest_null(const std::vector<Eigen::MatrixXd>& a, const std::vector<Eigen::VectorXd>& b,
                     std::uint64_t seed);

}  // namespace eigenscope
