#include "nn/activation.h"

#include <algorithm>

#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// Each activation with its slope. Functors, so that the loop over the entries is compiled for each.
template <class Scalar>
struct Gelu {
  static constexpr double kInverseRoot2Pi = 0.39894228040143267794;  // 1/sqrt(2 pi)

  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return x * normal_cdf(x); }
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const {
    return normal_cdf(x) + x * Scalar(kInverseRoot2Pi) * exp_nonpositive(Scalar(-0.5) * x * x);
  }
};

template <class Scalar>
struct GeluNew {
  static constexpr double kScale = 0.79788456080286535588;  // sqrt(2/pi)
  static constexpr double kCubic = 0.044715;

  static EIGENSCOPE_INLINE Scalar tanh(Scalar x) {
    return vector_tanh(Scalar(kScale) * (x + Scalar(kCubic) * x * x * x));
  }
  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return Scalar(0.5) * x * (1 + tanh(x)); }
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const {
    const Scalar tangent = tanh(x);
    const Scalar inner = Scalar(kScale) * (1 + 3 * Scalar(kCubic) * x * x);
    return Scalar(0.5) * (1 + tangent + x * (1 - tangent * tangent) * inner);
  }
};

template <class Scalar>
struct Relu {
  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return x < 0 ? Scalar(0) : x; }  // keeps NaN
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const { return Scalar(x > 0); }
};

template <class Scalar>
struct ReluSquared {
  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return x < 0 ? Scalar(0) : x * x; }  // keeps NaN
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const { return x < 0 ? Scalar(0) : 2 * x; }
};

template <class Scalar>
struct Silu {
  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return x * sigmoid(x); }
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const {
    const Scalar logistic = sigmoid(x);
    return logistic * (1 + x * (1 - logistic));
  }
};

template <class Scalar>
struct QuickGelu {
  static constexpr double kScale = 1.702;

  EIGENSCOPE_INLINE Scalar value(Scalar x) const { return x * sigmoid(Scalar(kScale) * x); }
  EIGENSCOPE_INLINE Scalar slope(Scalar x) const {
    const Scalar logistic = sigmoid(Scalar(kScale) * x);
    return logistic * (1 + Scalar(kScale) * x * (1 - logistic));
  }
};

template <class Scalar, class Use>
void with_activation(Activation kind, const Use& use) {
  switch (kind) {
    case Activation::gelu:
      return use(Gelu<Scalar>());
    case Activation::gelu_new:
      return use(GeluNew<Scalar>());
    case Activation::relu:
      return use(Relu<Scalar>());
    case Activation::relu_squared:
      return use(ReluSquared<Scalar>());
    case Activation::silu:
      return use(Silu<Scalar>());
    case Activation::quick_gelu:
      return use(QuickGelu<Scalar>());
  }
}

}  // namespace

template <class Scalar>
void activate(Activation kind, std::span<Scalar> values) {
  with_activation<Scalar>(kind, [&](const auto& activation) {
    in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
      for (Scalar& value : values) value = activation.value(value);
    });
  });
}

void activate(const Xielu& xielu, std::span<float> values) {
  for (float& value : values) {
    const double x = value, linear = xielu.linear * x;
    const double more =
        x > 0 ? xielu.positive * x * x
              : xielu.negative * (exp_nonpositive(std::min(x, xielu.epsilon)) - 1 - x);
    value = static_cast<float>(linear + more);
  }
}

template <class Scalar>
void activation_forward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& y) {
  if (&x != &y) y = x;
  activate<Scalar>(kind, {y.data(), static_cast<std::size_t>(y.size())});
}

template <class Scalar>
void activation_backward(Activation kind, const Matrix<Scalar>& x, Matrix<Scalar>& gradient) {
  with_activation<Scalar>(kind, [&](const auto& activation) {
    in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
      const Scalar* const in = x.data();
      Scalar* const out = gradient.data();
      const Index size = x.size();
      for (Index i = 0; i < size; ++i) out[i] *= activation.slope(in[i]);
    });
  });
}

template void activate(Activation, std::span<float>);
template void activate(Activation, std::span<double>);
template void activation_forward(Activation, const Matrix<float>&, Matrix<float>&);
template void activation_forward(Activation, const Matrix<double>&, Matrix<double>&);
template void activation_backward(Activation, const Matrix<float>&, Matrix<float>&);
template void activation_backward(Activation, const Matrix<double>&, Matrix<double>&);

}  // namespace eigenscope
