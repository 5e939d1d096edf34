// Linear maps, and the MLP of a transformer block: two of them with an activation between, or
// gated.
#pragma once

#include "nn/activation.h"
#include "nn/tensor.h"

namespace eigenscope {

/// Y = W X + b. W rows x inner, X inner x N, b rows or null for none, Y rows x N.
template <class Scalar>
void linear_forward(const Scalar* weight, const Scalar* bias, const Matrix<Scalar>& x,
                    Matrix<Scalar>& y);
/// dX = W^T dY (left out when null), dW += dY X^T, db += dY 1.
template <class Scalar>
void linear_backward(const Scalar* weight, const Matrix<Scalar>& x, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx, Scalar* dweight, Scalar* dbias);

/// W_up hidden x d and W_down d x hidden with their biases (hidden and d), or null for no bias.
template <class Scalar>
struct MlpWeights {
  const Scalar *up, *up_bias, *down, *down_bias;
  Activation activation;
};

/// Y = W_down activation(W_up X + b_up) + b_down, X and Y d x N. `up` and `active`, hidden x N, become
/// the activation's input and output, which the backward function reads; without gradients they may be
/// one matrix.
template <class Scalar>
void mlp_forward(const MlpWeights<Scalar>& mlp, const Matrix<Scalar>& x, Matrix<Scalar>& up,
                 Matrix<Scalar>& active, Matrix<Scalar>& y);

/// The gradients of the parameters, laid out as MlpWeights.
template <class Scalar>
struct MlpGradients {
  Scalar *up, *up_bias, *down, *down_bias;
};

/// `dup`, hidden x N, becomes the gradient by the activation's input; dX is d x N.
template <class Scalar>
void mlp_backward(const MlpWeights<Scalar>& mlp, const Matrix<Scalar>& x, const Matrix<Scalar>& up,
                  const Matrix<Scalar>& active, const Matrix<Scalar>& dy, Matrix<Scalar>& dup,
                  Matrix<Scalar>& dx, const MlpGradients<Scalar>& gradients);

/// SwiGLU (Shazeer, arXiv:2002.05202), LLaMA's MLP without biases: active = silu(gate) up, entry by entry, with silu(x)
/// = x / (1 + exp(-x)). All hidden x N.
template <class Scalar>
void gated_forward(const Matrix<Scalar>& gate, const Matrix<Scalar>& up, Matrix<Scalar>& active);
/// `gradient` is the gradient by `active` on entry and by `up` on return; `dgate` becomes the gradient by `gate`.
template <class Scalar>
void gated_backward(const Matrix<Scalar>& gate, const Matrix<Scalar>& up, Matrix<Scalar>& gradient,
                    Matrix<Scalar>& dgate);

}  // namespace eigenscope
