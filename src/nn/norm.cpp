#include "nn/norm.h"

#include <cmath>

#include "support/lanes.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// Calls visit(head, column, first row of the head, gain offset: 0 for queries, 1 for keys).
template <class Visit>
void for_heads(const AttentionShape& shape, Index columns, Visit visit) {
  for (Index column = 0; column < columns; ++column) {
    for (Index head = 0; head < shape.heads + shape.groups; ++head) {
      visit(head, column, head * shape.head_width, head >= shape.heads);
    }
  }
}

}  // namespace

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

template <class Scalar>
void head_norm_forward(const AttentionShape& shape, const Scalar* query_gain,
                       const Scalar* key_gain, Matrix<Scalar>& fused, Matrix<Scalar>& inverse) {
  const Index width = shape.head_width;
  for_heads(shape, fused.cols(), [&](Index head, Index column, Index row, bool) {
    const Scalar* const z = fused.data() + row + column * fused.rows();
    Scalar square = 0;
    for (Index i = 0; i < width; ++i) square += z[i] * z[i];
    inverse(head, column) = 1 / std::sqrt(square / static_cast<Scalar>(width) + Scalar(1e-6));
  });
  head_norm_apply(shape, query_gain, key_gain, inverse, fused);
}

template <class Scalar>
void head_norm_apply(const AttentionShape& shape, const Scalar* query_gain, const Scalar* key_gain,
                     const Matrix<Scalar>& inverse, Matrix<Scalar>& fused) {
  for_heads(shape, fused.cols(), [&](Index head, Index column, Index row, bool key) {
    const Scalar* const gain = key ? key_gain : query_gain;
    Scalar* const z = fused.data() + row + column * fused.rows();
    for (Index i = 0; i < shape.head_width; ++i) z[i] *= gain[i] * inverse(head, column);
  });
}

template <class Scalar>
void head_norm_backward(const AttentionShape& shape, const Scalar* query_gain,
                        const Scalar* key_gain, const Matrix<Scalar>& projected,
                        const Matrix<Scalar>& inverse, Matrix<Scalar>& gradient,
                        Scalar* dquery_gain, Scalar* dkey_gain) {
  const Index width = shape.head_width;
  for_heads(shape, gradient.cols(), [&](Index head, Index column, Index row, bool key) {
    const Scalar* const gain = key ? key_gain : query_gain;
    Scalar* const dgain = key ? dkey_gain : dquery_gain;
    const Scalar* const z = projected.data() + row + column * projected.rows();
    Scalar* const slope = gradient.data() + row + column * gradient.rows();
    const Scalar norm_inverse = inverse(head, column);
    Scalar along = 0;
    for (Index i = 0; i < width; ++i) {
      dgain[i] += slope[i] * z[i] * norm_inverse;
      along += slope[i] * gain[i] * z[i];
    }
    along *= norm_inverse * norm_inverse / static_cast<Scalar>(width);
    for (Index i = 0; i < width; ++i) slope[i] = norm_inverse * (gain[i] * slope[i] - along * z[i]);
  });
}

#define EIGENSCOPE_HEAD_NORM(Scalar)                                                              \
  template void head_norm_forward(const AttentionShape&, const Scalar*, const Scalar*,            \
                                  Matrix<Scalar>&, Matrix<Scalar>&);                              \
  template void head_norm_apply(const AttentionShape&, const Scalar*, const Scalar*,              \
                                const Matrix<Scalar>&, Matrix<Scalar>&);                          \
  template void head_norm_backward(const AttentionShape&, const Scalar*, const Scalar*,           \
                                   const Matrix<Scalar>&, const Matrix<Scalar>&, Matrix<Scalar>&, \
                                   Scalar*, Scalar*);
EIGENSCOPE_HEAD_NORM(float)
EIGENSCOPE_HEAD_NORM(double)

}  // namespace eigenscope
