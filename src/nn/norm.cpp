#include "nn/norm.h"

#include <cmath>

#include "support/lanes.h"

namespace eigenscope {

using Eigen::Index;

Eigen::MatrixXd normalized(const Eigen::MatrixXd& x, NormKind kind) {
  Eigen::MatrixXd y = x;
  if (kind == NormKind::layer_norm) y.rowwise() -= x.colwise().mean().eval();
  for (auto token : y.colwise()) {
    const double scale = token.norm() / std::sqrt(static_cast<double>(y.rows()));
    if (scale > 0) token /= scale;
  }
  return y;
}

template <class Scalar>
void layer_norm_forward(const Scalar* gain, const Scalar* bias, const Matrix<Scalar>& x,
                        Matrix<Scalar>& y, Matrix<Scalar>& statistics, Scalar epsilon) {
  const Index d = x.rows(), count = x.cols();
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    for (Index t = 0; t < count; ++t) {
      const Scalar* const in = x.data() + t * d;
      Scalar* const out = y.data() + t * d;
      const Scalar mean =
          lane_sum<Scalar>(d, [&](Index i) { return in[i]; }) / static_cast<Scalar>(d);
      const Scalar variance =
          lane_sum<Scalar>(d, [&](Index i) { return (in[i] - mean) * (in[i] - mean); }) /
          static_cast<Scalar>(d);
      const Scalar inverse = 1 / std::sqrt(variance + epsilon);
      for (Index i = 0; i < d; ++i) out[i] = gain[i] * ((in[i] - mean) * inverse) + bias[i];
      statistics(0, t) = mean;
      statistics(1, t) = inverse;
    }
  });
}

template <class Scalar>
void layer_norm_backward(const Scalar* gain, const Matrix<Scalar>& x,
                         const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient, Scalar* dgain,
                         Scalar* dbias) {
  const Index d = x.rows();
  for (Index t = 0; t < x.cols(); ++t) {
    const Scalar* const in = x.data() + t * d;
    Scalar* const slope = gradient.data() + t * d;
    const Scalar mean = statistics(0, t), inverse = statistics(1, t);
    const auto z = [&](Index i) { return (in[i] - mean) * inverse; };
    const Scalar sum = lane_sum<Scalar>(d, [&](Index i) { return gain[i] * slope[i]; });
    const Scalar along = lane_sum<Scalar>(d, [&](Index i) { return gain[i] * slope[i] * z(i); });
    const Scalar mean_sum = sum / static_cast<Scalar>(d),
                 mean_along = along / static_cast<Scalar>(d);
    for (Index i = 0; i < d; ++i) {
      dgain[i] += slope[i] * z(i);
      dbias[i] += slope[i];
      slope[i] = (gain[i] * slope[i] - mean_sum - z(i) * mean_along) * inverse;
    }
  }
}

template void layer_norm_forward(const float*, const float*, const Matrix<float>&, Matrix<float>&,
                                 Matrix<float>&, float);
template void layer_norm_backward(const float*, const Matrix<float>&, const Matrix<float>&,
                                  Matrix<float>&, float*, float*);
template void layer_norm_forward(const double*, const double*, const Matrix<double>&,
                                 Matrix<double>&, Matrix<double>&, double);
template void layer_norm_backward(const double*, const Matrix<double>&, const Matrix<double>&,
                                  Matrix<double>&, double*, double*);

template <class Scalar>
void rms_norm_forward(const Scalar* gain, const Matrix<Scalar>& x, Matrix<Scalar>& y,
                      Matrix<Scalar>& statistics, Scalar epsilon) {
  const Index d = x.rows(), count = x.cols();
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    for (Index t = 0; t < count; ++t) {
      const Scalar* const in = x.data() + t * d;
      Scalar* const out = y.data() + t * d;
      const Scalar square =
          lane_sum<Scalar>(d, [&](Index i) { return in[i] * in[i]; }) / static_cast<Scalar>(d);
      const Scalar inverse = 1 / std::sqrt(square + epsilon);
      for (Index i = 0; i < d; ++i) out[i] = gain[i] * (in[i] * inverse);
      statistics(1, t) = inverse;
    }
  });
}

template <class Scalar>
void rms_norm_backward(const Scalar* gain, const Matrix<Scalar>& x,
                       const Matrix<Scalar>& statistics, Matrix<Scalar>& gradient, Scalar* dgain) {
  const Index d = x.rows();
  for (Index t = 0; t < x.cols(); ++t) {
    const Scalar* const in = x.data() + t * d;
    Scalar* const slope = gradient.data() + t * d;
    const Scalar inverse = statistics(1, t);
    const Scalar along =
        lane_sum<Scalar>(d, [&](Index i) { return gain[i] * slope[i] * in[i] * inverse; }) /
        static_cast<Scalar>(d);
    for (Index i = 0; i < d; ++i) {
      const Scalar z = in[i] * inverse;
      dgain[i] += slope[i] * z;
      slope[i] = (gain[i] * slope[i] - z * along) * inverse;
    }
  }
}

#define EIGENSCOPE_RMS_NORM(Scalar)                                                            \
  template void rms_norm_forward(const Scalar*, const Matrix<Scalar>&, Matrix<Scalar>&,        \
                                 Matrix<Scalar>&, Scalar);                                     \
  template void rms_norm_backward(const Scalar*, const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                  Matrix<Scalar>&, Scalar*);
EIGENSCOPE_RMS_NORM(float)
EIGENSCOPE_RMS_NORM(double)

}  // namespace eigenscope
