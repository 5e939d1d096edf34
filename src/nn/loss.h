// Cross-entropy of next tokens.
#pragma once

#include <span>

#include "nn/embedding.h"
#include "nn/tensor.h"

namespace eigenscope {

/// Mean over the N columns of -log softmax(logits)[target], in nats; logits V x N. Where `gradient`,
/// logits become the loss's gradient by them. `each`, if not empty, gets the N terms of the mean.
template <class Scalar>
double cross_entropy(std::span<const TokenId> targets, bool gradient, Matrix<Scalar>& logits,
                     std::span<double> each = {});

}  // namespace eigenscope
