// A whole attention matrix.
#pragma once

#include <Eigen/Core>
#include <string_view>

#include "attention/mask.h"

namespace eigenscope {

enum class SoftmaxKind { exact, piecewise_linear, hard };

/// Throws InvalidArgument ("softmax") that lists the names: exact, piecewise-linear, hard.
SoftmaxKind softmax_of_name(std::string_view name);

/// Omega = X^T W X, T x T: row = query t, column = key i, entry x_i^T W x_t. `tokens` X is d x T,
/// `query_key` W is d x d. Throws InvalidArgument ("query_key") when the shapes disagree.
Eigen::MatrixXd attention_logits(const Eigen::MatrixXd& tokens, const Eigen::MatrixXd& query_key);

/// Row-wise softmax of the logits (row = query), T x T, over the keys that the mask lets the query
/// see; T in the piecewise linear form is their number; masked entries are 0. Throws InvalidArgument
/// ("temperature"; "logits" when there are fewer keys than queries).
Eigen::MatrixXd attention_weights(const Eigen::MatrixXd& logits, double temperature,
                                  SoftmaxKind kind, const Mask& mask);

/// The weights of query `query` on the keys that it may see, in their order.
Eigen::VectorXd visible_weights(const Eigen::MatrixXd& weights, Eigen::Index query,
                                const Mask& mask);

/// normalized_entropy of each row over the keys that it may see, the row divided by its sum (which
/// the piecewise linear form does not keep at 1). NaN where that says nothing: the first causal row,
/// and a row of zeros.
Eigen::VectorXd row_entropies(const Eigen::MatrixXd& weights, const Mask& mask);

}  // namespace eigenscope
