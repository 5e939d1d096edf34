// Token and learned position embeddings.
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

}  // namespace eigenscope
