#include "nn/gated_mlp.h"

#include "nn/sigmoid.h"

namespace eigenscope {

using Eigen::Index;

template <class Scalar>
void gated_forward(const Matrix<Scalar>& gate, const Matrix<Scalar>& up, Matrix<Scalar>& active) {
  for (Index i = 0; i < gate.size(); ++i) {
    const Scalar x = gate.data()[i];
    active.data()[i] = x * sigmoid(x) * up.data()[i];
  }
}

template <class Scalar>
void gated_backward(const Matrix<Scalar>& gate, const Matrix<Scalar>& up, Matrix<Scalar>& gradient,
                    Matrix<Scalar>& dgate) {
  for (Index i = 0; i < gate.size(); ++i) {
    const Scalar x = gate.data()[i], own = sigmoid(x), slope = gradient.data()[i];
    dgate.data()[i] = slope * up.data()[i] * own * (1 + x * (1 - own));
    gradient.data()[i] = slope * x * own;
  }
}

template void gated_forward(const Matrix<float>&, const Matrix<float>&, Matrix<float>&);
template void gated_forward(const Matrix<double>&, const Matrix<double>&, Matrix<double>&);
template void gated_backward(const Matrix<float>&, const Matrix<float>&, Matrix<float>&,
                             Matrix<float>&);
template void gated_backward(const Matrix<double>&, const Matrix<double>&, Matrix<double>&,
                             Matrix<double>&);

}  // namespace eigenscope
