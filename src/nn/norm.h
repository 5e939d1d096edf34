// Normalization of each token (LayerNorm and RMSNorm), and of each head's queries and keys (QK-
// norm).
#pragma once

#include "nn/attention.h"
#include "nn/tensor.h"

namespace eigenscope {

enum class NormKind { layer_norm, rms_norm };

/// Each token with its mean removed (layer_norm) and divided by its standard deviation, or root mean
/// square (rms_norm): no gain, no bias, no epsilon. A token of zero length stays zero. X d x N.
Eigen::MatrixXd normalized(const Eigen::MatrixXd& x, NormKind kind);

/// Y = g (X - mean)/sqrt(variance + epsilon) + b for each token; the default epsilon is GPT-2's. X, Y
/// d x N; g, b d. `statistics` 2 x N becomes mean and 1/sqrt(...), which the backward function reads.
template <class Scalar>
void layer_norm_forward(const Scalar* gain, const Scalar* bias, const Matrix<Scalar>& x,
                        Matrix<Scalar>& y, Matrix<Scalar>& statistics,
                        Scalar epsilon = Scalar(1e-5));
/// With z = (X - mean)/sqrt(...): dX = (g dY - mean(g dY) - z mean(g dY z))/sqrt(...), dg += sum dY z,
/// db += sum dY. `gradient` is dY before and dX after.
template <class Scalar>
void layer_norm_backward(const Scalar* gain, const Matrix<Scalar>& x,
                         const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient, Scalar* dgain,
                         Scalar* dbias);

/// RMSNorm (Zhang and Sennrich, 2019): Y = g X / sqrt(mean(X^2) + epsilon) for each token; the default epsilon is that
/// of trained models. X, Y d x N; g d. The second row of `statistics`, 2 x N, becomes 1/sqrt(...), as in
/// layer_norm_forward.
template <class Scalar>
void rms_norm_forward(const Scalar* gain, const Matrix<Scalar>& x, Matrix<Scalar>& y,
                      Matrix<Scalar>& statistics, Scalar epsilon = Scalar(1e-5));
/// `gradient` is dY before and dX after; dg += sum dY X/sqrt(...).
template <class Scalar>
void rms_norm_backward(const Scalar* gain, const Matrix<Scalar>& x,
                       const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient, Scalar* dgain);

/// Each head's part z of a query or key becomes gain z / sqrt(mean(z^2) + 1e-6), in place; values stay.
/// Fused (H + 2 G) d_h x B T; gains d_h, shared by the heads; `inverse` (H + G) x B T keeps
/// 1/sqrt(...). Henry et al., arXiv:2010.04245, in the form of OLMo 2 and Qwen 3.
template <class Scalar>
void head_norm_forward(const AttentionShape& shape, const Scalar* query_gain,
                       const Scalar* key_gain, Matrix<Scalar>& fused, Matrix<Scalar>& inverse);

/// `projected` is the fused matrix before the norm. `gradient` is the gradient by the normalized fused matrix on entry
/// and by `projected` on return; adds to the gradients of both gains.
template <class Scalar>
void head_norm_backward(const AttentionShape& shape, const Scalar* query_gain,
                        const Scalar* key_gain, const Matrix<Scalar>& projected,
                        const Matrix<Scalar>& inverse, Matrix<Scalar>& gradient,
                        Scalar* dquery_gain, Scalar* dkey_gain);

/// Applies in place the linear map that head_norm_forward is for fixed factors `inverse`.
template <class Scalar>
void head_norm_apply(const AttentionShape& shape, const Scalar* query_gain, const Scalar* key_gain,
                     const Matrix<Scalar>& inverse, Matrix<Scalar>& fused);

}  // namespace eigenscope
