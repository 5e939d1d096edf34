// A whole attention matrix. One column is one query, so that what belongs together lies together.
#pragma once

#include <Eigen/Core>
#include <array>

#include "attention/mask.h"
#include "attention/softmax.h"

namespace eigenscope {

enum class SoftmaxKind { exact, piecewise_linear, hard };

inline constexpr std::array kSoftmaxNames{Choice{"exact", "exact"},
                                          Choice{"piecewise-linear", "piecewise linear"},
                                          Choice{"hard", "hard"}};

/// Omega = X^T W X, T x T: row = key i, column = query t, entry x_i^T W x_t. `tokens` X is d x T,
/// `query_key` W is d x d. Throws InvalidArgument ("query_key") when the shapes disagree.
Eigen::MatrixXd attention_logits(const Eigen::MatrixXd& tokens, const Eigen::MatrixXd& query_key);

/// Softmax of each column of logits (row = key, column = query), over the keys that the mask lets the
/// query see; T in the piecewise linear form is their number; masked entries are 0. Throws
/// InvalidArgument ("temperature"; "logits" when there are fewer keys than queries).
Eigen::MatrixXd attention_weights(const Eigen::Ref<const Eigen::MatrixXd>& logits,
                                  double temperature, SoftmaxKind kind, const Mask& mask);

/// The weights of query `query` on the keys that it may see, in their order.
Eigen::VectorXd visible_weights(const Eigen::MatrixXd& weights, Eigen::Index query,
                                const Mask& mask);

/// normalized_entropy of each query's weights over the keys that it may see, divided by their sum
/// (which the piecewise linear form does not keep at 1). NaN where that says nothing: the first
/// causal query, and weights of zero.
Eigen::VectorXd query_entropies(const Eigen::MatrixXd& weights, const Mask& mask);

}  // namespace eigenscope
