// Activations of the MLP, entry by entry.
#pragma once

#include <span>

#include "nn/tensor.h"

namespace eigenscope {

enum class Activation {
  gelu,      ///< x Phi(x), Phi the distribution function of the normal law
  gelu_new,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the approximation of GPT-2
  relu,
  silu,       ///< x / (1 + exp(-x))
  quick_gelu  ///< x / (1 + exp(-1.702 x)), another approximation of GELU, of CLIP
};

/// Each of `values` becomes its activation.
template <class Scalar>
void activate(Activation kind, std::span<Scalar> values);
/// Y = activation(X); X and Y may be one matrix.
template <class Scalar>
void activation_forward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& y);
/// dX = activation'(X) dY; `gradient` is dY before and dX after. The slope of ReLU at 0 is 0.
template <class Scalar>
void activation_backward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& gradient);

}  // namespace eigenscope
