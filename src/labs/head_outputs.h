// Outputs of the heads of a trained model, key by key, and the mean of its tokens.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "attention/key_range.h"
#include "inference/transformer.h"
#include "text/passages.h"

namespace eigenscope {

/// The least number of content tokens of labs on text.
inline constexpr Eigen::Index kLeastContent = 4;

/// The tokens between the special ones of passages of one length, without the first token of all and, in a causal
/// model, without the last token, to which no other attends. Throws InvalidArgument: "length" for fewer than
/// kLeastContent, "passages" where there is none; FormatError for a model with layers without heads or with gated
/// heads.
KeyRange content_of(const std::vector<Passage>& passages, const Transformer& model);

/// Mean of weights(key, query) over the queries of other tokens that see the key, at least one.
double received(const Eigen::MatrixXf& weights, Eigen::Index key, const LayerRules& rules);

/// Mean row entropy over the log of the number of visible keys, at least two, of the rows of all tokens but the first.
/// Weights beside a learned sink are divided by their sum.
double mean_entropy(const Eigen::MatrixXf& weights, const LayerRules& rules);

/// The contribution of a head to the residual stream for each token that it attends to with weight 1 (d x T): the
/// layer's output projection of `values`, those of all heads as in HeadTokens.
Eigen::MatrixXf projected_values(const Linear& output, const LayerRules& rules, int head,
                                 const Eigen::MatrixXf& values);

/// The mean of tokens (d x T), without the one at the position `left_out`.
Eigen::VectorXd mean_token(const Eigen::MatrixXf& tokens,
                           std::optional<Eigen::Index> left_out = {});

/// a . b / (|a| |b|).
double cosine(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

}  // namespace eigenscope
