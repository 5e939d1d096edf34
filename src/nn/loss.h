// Cross-entropy of predicted tokens.
#pragma once

#include <span>

#include "nn/embedding.h"
#include "nn/tensor.h"

namespace eigenscope {

/// The target of a column that has no part in the loss.
inline constexpr TokenId kNoTarget = -1;

/// Mean of -log softmax(logits)[target], in nats, over the columns with a target, of which there is at least one;
/// logits are V x N. With `gradient` the logits are replaced by the gradient of the loss by them. `each`, if not empty,
/// gets the N terms of the mean, 0 without a target.
template <class Scalar>
double cross_entropy(std::span<const TokenId> targets, bool gradient, Matrix<Scalar>& logits,
                     std::span<double> each = {});

}  // namespace eigenscope
