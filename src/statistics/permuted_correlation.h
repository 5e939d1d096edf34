// Rank correlations within groups, against permutations of one side.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

#include "statistics/estimate.h"

namespace eigenscope {

/// Mean rank correlation with its permutation test; NaN where it is not defined.
struct PermutedCorrelation {
  /// Mean over the groups of Spearman's rank correlation, with its standard error over groups.
  Estimate value;
  /// Percentiles 2.5 and 97.5 of the mean with permuted values.
  double null_low = std::numeric_limits<double>::quiet_NaN();
  double null_high = std::numeric_limits<double>::quiet_NaN();
  /// Share of permutations at least as far from 0.
  double p = std::numeric_limits<double>::quiet_NaN();
};

/// Permutation of the values within groups.
enum class Permutation {
  common,    ///< one permutation for all groups, whose values are of the same items
  separate,  ///< an independent permutation for each group
};

/// a[g] and b[g] are the values of group g, of one length and without NaN; groups in which either is constant
/// are left out. With `common` all groups have one length. 2,000 permutations, drawn from the seed.
PermutedCorrelation permuted_correlation(const std::vector<Eigen::VectorXd>& a,
                                         const std::vector<Eigen::VectorXd>& b,
                                         Permutation permutation, std::uint64_t seed);

/// The critical value of the largest of several such means: the 95th percentile over 2,000 permutations, independent
/// between groups, of the largest |mean over groups| of any row of a. a[g] has a value for each entry of
/// b[g] in each row; constant rows count as uncorrelated.
double farthest_null(const std::vector<Eigen::MatrixXd>& a, const std::vector<Eigen::VectorXd>& b,
                     std::uint64_t seed);

}  // namespace eigenscope
