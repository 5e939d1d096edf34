// A head as the logits depend on it: with the query bias and the norm's gain and bias, or under the covariance of the
// tokens. A regularizer of W_Q W_K^T alone does not see these: the query bias can carry all of attention while W
// vanishes.
#pragma once

#include "training/regularizers/penalty.h"

namespace eigenscope {

/// Queries Q x + c and keys K x of tokens x with covariance S and mean mu: trace tr(K S Q^T), scale
/// tr((Q S Q^T + c c^T) K S K^T).
///
/// Without `moments` attention reads x = g z + beta, z normalized by the norm before it (g = 1 and beta = 0 where
/// there is none) and of identity covariance: Q = W_Q^T diag(g), K = W_K^T diag(g), c = b_Q + W_Q^T beta, S = I. The
/// scale is then ||[Q^T; c^T] K||_F^2, the variance of q^T k over independent z, z'.
///
/// With `moments`, d x (d + 1), S and mu in its last column: Q = W_Q^T, K = W_K^T, c = b_Q + W_Q^T mu, and the scale is
/// d_h times the variance of the logits of independent tokens of these moments. With S = I, mu = 0 and b_Q = 0 it is
/// ||W||_F^2.
template <class Scalar>
struct EffectiveHead final : PenalizedHead<Scalar> {
  EffectiveHead(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head,
                const Matrix<Scalar>* moments = nullptr);
  /// The moments are held constant.
  void add_slopes(Scalar of_trace, Scalar of_scale, Model<Scalar>& model) const override;
  /// W diag(g), or W S.
  Matrix<Scalar> seen(const Matrix<Scalar>& weights) const;

  Eigen::Index norm_gain = -1,
               norm_bias =
                   -1;  ///< of the norm whose output attention reads; -1 where there is none
  Eigen::Index d, width, leading, query_row, key_row, fused, bias;
  bool folded;
  Vector<Scalar> gain, mean, constant;  ///< constant: c
  Matrix<Scalar> covariance;
  Matrix<Scalar> query, key, query_seen, key_seen, query_gram, key_gram;
};

}  // namespace eigenscope
