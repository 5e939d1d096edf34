// Activations of the MLP, entry by entry, and the logistic function.
#pragma once

#include <span>

#include "nn/tensor.h"
#include "support/vector_math.h"

namespace eigenscope {

enum class Activation {
  gelu,      ///< x Phi(x), Phi the distribution function of the normal law
  gelu_new,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the approximation of GPT-2
  relu,
  relu_squared,  ///< max(x, 0)^2 (So et al., 2021, arXiv:2109.08668)
  silu,          ///< x / (1 + exp(-x))
  quick_gelu     ///< x / (1 + exp(-1.702 x)), another approximation of GELU, of CLIP
};

/// Replaces each of `values` by its activation.
template <class Scalar>
void activate(Activation kind, std::span<Scalar> values);
/// Y = activation(X); X and Y may be one matrix.
template <class Scalar>
void activation_forward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& y);
/// dX = activation'(X) dY; `gradient` is dY before and dX after. The slope of ReLU at 0 is 0.
template <class Scalar>
void activation_backward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& gradient);

/// xIELU (Huang and Schlag, 2024, arXiv:2411.13010), whose numbers are learned: linear x + positive x^2 for x > 0, and
/// otherwise linear x + negative (exp(min(x, epsilon)) - 1 - x).
struct Xielu {
  double positive = 0, negative = 0, linear = 0, epsilon = 0;
};

/// Replaces each of `values` by its xIELU.
void activate(const Xielu& xielu, std::span<float> values);

/// Logistic function 1/(1 + exp(-x)) by exp_nonpositive, with the same bits on every platform.
template <class Scalar>
EIGENSCOPE_INLINE Scalar sigmoid(Scalar x) {
  const Scalar small = exp_nonpositive(x < 0 ? x : -x);
  return (x < 0 ? small : Scalar(1)) / (1 + small);
}

}  // namespace eigenscope
