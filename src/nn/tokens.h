// Inputs and outputs of a model: embeddings of tokens and positions, and the cross-entropy of predicted tokens.
#pragma once

#include <cstdint>
#include <span>

#include "nn/tensor.h"

namespace eigenscope {

using TokenId = std::int32_t;

/// X = E(token) + P(position): E d x V, P d x T or null, X d x B T.
template <class Scalar>
void embedding_forward(std::span<const TokenId> tokens, Eigen::Index length,
                       const Scalar* embedding, const Scalar* positions, Matrix<Scalar>& x);
/// Adds the columns of dX to the gradients of their token and position; `dpositions` may be null.
template <class Scalar>
void embedding_backward(std::span<const TokenId> tokens, Eigen::Index length,
                        const Matrix<Scalar>& dx, Scalar* dembedding, Scalar* dpositions);

/// The target of a column that has no part in the loss.
inline constexpr TokenId kNoTarget = -1;

/// Mean of -log softmax(logits)[target], in nats, over the columns with a target, of which there is at least one;
/// logits are V x N. With `gradient` the logits are replaced by the gradient of the loss by them. `each`, if not empty,
/// gets the N terms of the mean, 0 without a target.
template <class Scalar>
double cross_entropy(std::span<const TokenId> targets, bool gradient, Matrix<Scalar>& logits,
                     std::span<double> each = {});

}  // namespace eigenscope
