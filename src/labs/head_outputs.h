// What the heads of a trained model write, key by key, and what its tokens become.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "inference/layer.h"

namespace eigenscope {

/// About how many multiply-adds a passage of `length` tokens takes in a layer of `width`.
double layer_work(Eigen::Index width, Eigen::Index length);

/// Mean of weights(key, query) over the queries of other tokens that see the key: all, or with `causal` those after
/// it, of which there must be one.
double received(const Eigen::MatrixXf& weights, Eigen::Index key, bool causal);

/// Mean row entropy over the log of the number of visible keys, of the rows of all tokens but the first.
double mean_entropy(const Eigen::MatrixXf& weights, bool causal);

/// What a head adds to the residual stream for each token that it reads (d x T) with weight 1: the output projection
/// of `values`, those of all heads as in HeadTokens.
Eigen::MatrixXf projected_values(const LayerWeights& layer, const LayerRules& rules, int head,
                                 const Eigen::MatrixXf& values);

/// The mean of tokens (d x T), without the one at the position `left_out`.
Eigen::VectorXd mean_token(const Eigen::MatrixXf& tokens,
                           std::optional<Eigen::Index> left_out = {});

/// a . b / (|a| |b|).
double cosine(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

}  // namespace eigenscope
