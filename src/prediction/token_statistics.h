// What the predictor levels know of a layer's tokens: measured on some passages, used for
// others.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "inference/head_measures.h"

namespace eigenscope {

/// Mean and covariance of a set of tokens, kept as sums so that sets can be joined.
class Moments {
 public:
  explicit Moments(Eigen::Index width = 0);

  /// Adds each column of `tokens` (d x n).
  void add(const Eigen::MatrixXd& tokens);
  Moments& operator+=(const Moments& other);

  double count() const { return count_; }
  Eigen::VectorXd mean() const { return sum_ / count_; }
  /// Covariance around the mean, divided by count(); d x d.
  Eigen::MatrixXd covariance() const;

 private:
  double count_ = 0;
  Eigen::VectorXd sum_;
  Eigen::MatrixXd square_;  // upper triangle of the sum of x x^T
};

/// Means by position (d x T), those of content tokens averaged over the content tokens at most four
/// positions away; tokens among `apart` keep theirs.
Eigen::MatrixXd smoothed_by_position(const Eigen::MatrixXd& means, const SinkKeys& apart);

/// Statistics of one layer's states over passages of one length T with the same sinks.
class TokenStatistics {
 public:
  TokenStatistics(Eigen::Index width, Eigen::Index length, SinkKeys sinks);

  /// Adds a passage's states, d x T.
  void add(const Eigen::MatrixXf& states);

  Eigen::Index length() const { return positions_.cols(); }
  const SinkKeys& sinks() const { return sinks_; }
  /// Passages added.
  Eigen::Index passages() const { return static_cast<Eigen::Index>(states_.size()); }
  /// States of each passage, d x T.
  const std::vector<Eigen::MatrixXf>& states() const { return states_; }

  const Moments& leading() const { return leading_; }
  const Moments& content() const { return content_; }
  const Moments& trailing() const { return trailing_; }
  /// Mean state at each position, d x T.
  Eigen::MatrixXd position_means() const { return positions_ / static_cast<double>(passages()); }
  /// k(D), D = 0 ... T-1: the correlation of two content tokens D positions apart in one passage, as
  /// Cov(x_s, x_t) = k(|s - t|) Sigma has it, by traces around `means` (d x T). 1 at D = 0; 0 where
  /// fewer than kPairs pairs are that far apart.
  Eigen::VectorXd correlations(const Eigen::MatrixXd& means) const;

 private:
  static constexpr Eigen::Index kPairs = 50;

  SinkKeys sinks_;
  Moments leading_, content_, trailing_;
  Eigen::MatrixXd positions_;  // sums
  std::vector<Eigen::MatrixXf> states_;
};

}  // namespace eigenscope
