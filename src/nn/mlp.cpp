#include "nn/mlp.h"

namespace eigenscope {

using Eigen::Index;

template <class Scalar>
void linear_forward(const Scalar* weight, const Scalar* bias, const Matrix<Scalar>& x,
                    Matrix<Scalar>& y) {
  const Index rows = y.rows();
  multiply(rows, x.cols(), x.rows(), factor(weight, rows), whole(x), y.data(), rows);
  if (bias == nullptr) return;
  for (Index t = 0; t < y.cols(); ++t) {
    Scalar* const column = y.data() + t * rows;
    for (Index i = 0; i < rows; ++i) column[i] += bias[i];
  }
}

template <class Scalar>
void linear_backward(const Scalar* weight, const Matrix<Scalar>& x, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx, Scalar* dweight, Scalar* dbias) {
  const Index rows = dy.rows();
  if (dx != nullptr) {
    multiply(x.rows(), x.cols(), rows, factor(weight, rows).transposed(), whole(dy), dx->data(),
             dx->rows());
  }
  multiply(rows, x.rows(), x.cols(), whole(dy), whole(x).transposed(), dweight, rows, true);
  for (Index t = 0; t < dy.cols(); ++t) {
    const Scalar* const column = dy.data() + t * rows;
    for (Index i = 0; i < rows; ++i) dbias[i] += column[i];
  }
}

template void linear_forward(const float*, const float*, const Matrix<float>&, Matrix<float>&);
template void linear_backward(const float*, const Matrix<float>&, const Matrix<float>&,
                              Matrix<float>*, float*, float*);
template void linear_forward(const double*, const double*, const Matrix<double>&, Matrix<double>&);
template void linear_backward(const double*, const Matrix<double>&, const Matrix<double>&,
                              Matrix<double>*, double*, double*);

template <class Scalar>
void mlp_forward(const MlpWeights<Scalar>& mlp, const Matrix<Scalar>& x, Matrix<Scalar>& up,
                 Matrix<Scalar>& active, Matrix<Scalar>& y) {
  linear_forward(mlp.up, mlp.up_bias, x, up);
  activation_forward(mlp.activation, up, active);
  linear_forward(mlp.down, mlp.down_bias, active, y);
}

template <class Scalar>
void mlp_backward(const MlpWeights<Scalar>& mlp, const Matrix<Scalar>& x, const Matrix<Scalar>& up,
                  const Matrix<Scalar>& active, const Matrix<Scalar>& dy, Matrix<Scalar>& dup,
                  Matrix<Scalar>& dx, const MlpGradients<Scalar>& gradients) {
  linear_backward(mlp.down, active, dy, &dup, gradients.down, gradients.down_bias);
  activation_backward(mlp.activation, up, dup);
  linear_backward(mlp.up, x, dup, &dx, gradients.up, gradients.up_bias);
}

#define EIGENSCOPE_MLP(Scalar)                                                                    \
  template void mlp_forward(const MlpWeights<Scalar>&, const Matrix<Scalar>&, Matrix<Scalar>&,    \
                            Matrix<Scalar>&, Matrix<Scalar>&);                                    \
  template void mlp_backward(const MlpWeights<Scalar>&, const Matrix<Scalar>&,                    \
                             const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, \
                             Matrix<Scalar>&, Matrix<Scalar>&, const MlpGradients<Scalar>&);
EIGENSCOPE_MLP(float)
EIGENSCOPE_MLP(double)

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
    const Scalar x = gate.data()[i], logistic = sigmoid(x), slope = gradient.data()[i];
    dgate.data()[i] = slope * up.data()[i] * logistic * (1 + x * (1 - logistic));
    gradient.data()[i] = slope * x * logistic;
  }
}

template void gated_forward(const Matrix<float>&, const Matrix<float>&, Matrix<float>&);
template void gated_forward(const Matrix<double>&, const Matrix<double>&, Matrix<double>&);
template void gated_backward(const Matrix<float>&, const Matrix<float>&, Matrix<float>&,
                             Matrix<float>&);
template void gated_backward(const Matrix<double>&, const Matrix<double>&, Matrix<double>&,
                             Matrix<double>&);

}  // namespace eigenscope
