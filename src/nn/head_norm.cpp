#include "nn/head_norm.h"

#include <cmath>

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
