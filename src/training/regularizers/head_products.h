// The d_h x d_h products of the factors of a head's W = W_Q W_K^T, at O(d d_h^2), never forming W.
#pragma once

#include "spectrum/traces.h"
#include "support/gemm.h"
#include "training/model.h"

namespace eigenscope {

/// The product A B (rows x columns) of A (rows x inner) and B (inner x columns).
template <class Scalar>
Matrix<Scalar> product(Eigen::Index rows, Eigen::Index columns, Eigen::Index inner,
                       Factor<Scalar> a, Factor<Scalar> b) {
  Matrix<Scalar> c(rows, columns);
  multiply(rows, columns, inner, a, b, c.data(), rows);
  return c;
}

/// Traces of one head's W (d x d, without LayerNorm's gain) for tokens of covariance I. Layer and head are from 0.
template <class Scalar>
Traces head_traces(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head);

/// Places of a head's W_Q^T and W_K^T (d_h x d, columns `leading` apart) among the parameters.
struct HeadRows {
  template <class Scalar>
  HeadRows(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head);

  Eigen::Index query, key, leading;  ///< offsets of the first entries
  Eigen::Index d, width;
};

template <class Scalar>
struct HeadProducts {
  HeadProducts(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head);

  Traces traces() const;
  /// Adds left (d_h x d_h) times one of the factors to the gradient of a factor.
  void add_product(const Matrix<Scalar>& left, Factor<Scalar> right, Scalar* gradient) const;
  /// Adds `slope` d tr(W) to the gradient: d tr(W)/dW_Q = W_K, d tr(W)/dW_K = W_Q.
  void add_trace_slope(Scalar slope, Model<Scalar>& model) const;
  /// Adds `slope` d ||W||_F^2: d ||W||_F^2/dW_Q = 2 W_Q W_K^T W_K.
  void add_frobenius_slope(Scalar slope, Model<Scalar>& model) const;

  HeadRows rows;
  Factor<Scalar> query, key;
  Matrix<Scalar> core, query_gram, key_gram;  ///< M = W_K^T W_Q, W_Q^T W_Q, W_K^T W_K
};

}  // namespace eigenscope
