// Measures of sampled rows of attention, with standard errors.
#pragma once

#include <Eigen/Core>

#include "propagation/propagation.h"
#include "statistics/estimate.h"

namespace eigenscope {

/// Estimates from `samples` rows of logits; vectors have one entry a key, over the rows that have it,
/// NaN where none has; `*_error` are standard errors. Those of a key over several queries take the
/// spread between queries, which are visited evenly, for chance: they are 1.0 to 1.5 times too large.
struct RowEstimate {
  Eigen::Index samples = 0;
  Eigen::VectorXd mean, mean_error;  ///< mean of the centred logits
  Eigen::VectorXd std, std_error;
  Eigen::VectorXd rho, rho_error;  ///< share of rows with the key inside the linear range
  Eigen::VectorXd sensitivity, sensitivity_error;  ///< E[p_i (1 - p_i)], exact softmax
  Estimate localization;                           ///< index of rho
  Estimate rho_mean;                               ///< mean of rho over the keys
  Estimate entropy;                                ///< row entropy over log T, exact softmax
  Estimate participation;                          ///< 1/(T sum p^2), exact softmax
  Estimate sensitivity_localization;               ///< index of the sensitivity
  Regime regime = Regime::none;                    ///< regime of rho
  Signal signal = Signal::none;                    ///< signal of rho
};

/// Accumulates rows of centred logits omega_i - omega_bar.
class RowStatistics {
 public:
  /// `expected` is a guess of the mean of the rows (T entries, any finite vector): sums are kept
  /// around it so that a large mean does not swamp a small variance. temperature > 0.
  RowStatistics(Eigen::VectorXd expected, double temperature);

  /// Adds a row: 2 to T finite numbers of mean 0, for the first keys.
  void add(const Eigen::VectorXd& centred_logits);

  /// Needs at least two rows; before that every number is NaN, and every error before kRowsForErrors:
  /// from fewer rows an error is itself too uncertain to be shown. The two localization indices, which
  /// are NaN until every key was seen, are ratios of sampled numbers: their bias of order 1/samples is
  /// removed, and their standard error found, by a jackknife over groups of samples; so an index near 0
  /// can come out slightly negative. The index of the sensitivity has no error either where few rows have most of the
  /// sensitivity: below kSoftRows of them that jackknife is too small (docs/theory.md).
  RowEstimate estimate() const;
  /// The standard errors of estimate() alone; at least two samples.
  Estimate entropy() const { return entropy_.estimate(); }
  Estimate participation() const { return participation_.estimate(); }

 private:
  static constexpr Eigen::Index kGroups = 32;
  static constexpr Eigen::Index kRowsForErrors = 10;
  static constexpr double kSoftRows = 30;

  static void forget_errors(RowEstimate& estimate);
  /// Effective number of rows of the sum of sensitivities s: (sum s)^2 / sum s^2.
  double soft_rows() const;
  void add_softmax(const Eigen::VectorXd& centred_logits, Eigen::Index group);

  Eigen::VectorXd expected_;
  double temperature_;
  Eigen::Index samples_ = 0;
  Eigen::ArrayXXd powers_;                       // T x 4: sums of deviation^k, k = 1..4
  Eigen::ArrayXXd seen_, inside_, sensitivity_;  // T x kGroups: counts and sums a group
  Eigen::ArrayXd sensitivity_square_;
  MeanSums entropy_, participation_, sensitivity_of_row_;
  Eigen::ArrayXf weights_;  // workspace of one row
};

}  // namespace eigenscope
