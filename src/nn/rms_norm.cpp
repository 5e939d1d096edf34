#include "nn/rms_norm.h"

#include <cmath>

#include "support/lanes.h"

namespace eigenscope {

using Eigen::Index;

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
