// Tokens as predictions know them: those of all passages in the coordinates of a head, and
// statistics of a layer's tokens, measured on some passages and used for others.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "inference/head_measures.h"
#include "inference/layer.h"

namespace eigenscope {

/// Queries, keys (d_h x T) and values (d_v x T) of one head by passage, before rotary positions turn them. The product
/// of a query and a key is their logit, but for rotary positions and the bias of the offset.
struct HeadStates {
  std::vector<Eigen::MatrixXd> queries;  ///< over sqrt(d_h)
  std::vector<Eigen::MatrixXd> keys, values;
  Eigen::VectorXd offset_bias = {};  ///< HeadTokens::offset_bias, of all passages; empty for none

  /// The largest |bias| of an offset in a passage; 0 without biases.
  double largest_offset_bias() const { return offset_bias.lpNorm<Eigen::Infinity>(); }

  /// Adds a passage.
  void add(const HeadTokens& tokens);
};

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

/// Mean of each entry over matrices of one shape: of passages, the mean token at each position.
template <class Matrix>
Eigen::MatrixXd mean_of(const std::vector<Matrix>& passages) {
  Eigen::MatrixXd mean = passages.front().template cast<double>();
  for (std::size_t k = 1; k < passages.size(); ++k) mean += passages[k].template cast<double>();
  return mean / static_cast<double>(passages.size());
}

/// k(D), D = 0 ... T-1, over a layer's states (d x T for each passage): the correlation of two content tokens
/// D positions apart in one passage, as Cov(x_s, x_t) = k(|s - t|) Sigma has it, by traces around the means by
/// position, smoothed. 1 at D = 0; 0 where fewer than 50 pairs are that far apart.
Eigen::VectorXd correlations_of(const std::vector<Eigen::MatrixXf>& states, const SinkKeys& sinks);
/// The correlations of those states that the keys of the layer are made of (LayerWeights::key_input).
Eigen::VectorXd correlations_of(const LayerWeights& layer,
                                const std::vector<Eigen::MatrixXf>& states, const SinkKeys& sinks);

}  // namespace eigenscope
