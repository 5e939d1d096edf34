// The matrices that every layer reads and writes, and the conventions of this folder.
//
// All layers: one column is one token, and all B T tokens of a batch lie in one matrix, sequence by
// sequence, so that a projection is one product. Each layer is a forward/backward pair side by side: a
// backward function takes dY, the gradient of the loss with respect to the layer's output, adds the
// gradients of the parameters to what is there, and overwrites the gradient of the input. Pointers are
// to column-major arrays without gaps: weights and gradients of a model lie in one vector each, which
// optimizer, regularizers and files take as a whole. Float and double; sums have a fixed order.
#pragma once

#include <Eigen/Core>

#include "support/gemm.h"

namespace eigenscope {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// A whole matrix as a factor of a product.
template <class Scalar>
Factor<Scalar> whole(const Matrix<Scalar>& matrix) {
  return factor(matrix.data(), matrix.rows());
}

}  // namespace eigenscope
