// LocAteR on what the logits are really made of: with the query bias and the norm's gain and bias, or
// under the covariance of the tokens. A regularizer of W_Q W_K^T alone does not see these: the query
// bias can carry all of attention while W vanishes.
#pragma once

#include <vector>

#include "training/model.h"

namespace eigenscope {

/// Running mean and covariance of the tokens that attention reads, layer by layer.
struct TokenMoments {
  /// d x (d + 1) a layer: the covariance S, and the mean in the last column.
  std::vector<Matrix<float>> layers;

  bool known() const { return !layers.empty(); }
  /// Takes in the last batch of the model: all of it the first time, then 5% a step.
  void update(const Model<float>& model);
};

/// Trace and scale of one head as `kind` defines them (d times their part in the penalty).
struct EffectiveTraces {
  double trace = 0, scale = 0;
};

/// locater_effective: attention reads x = g z + beta, z normalized by the norm before it (g = 1 and
/// beta = 0 where there is none). With Q = diag(g) W_Q, K = diag(g) W_K and c = b_Q + W_Q^T beta, logits
/// vary over keys by (Q^T z + c)^T K^T z'. Trace tr(Q K^T), scale ||[Q; c^T] K^T||_F^2, which is the
/// variance of q^T k over independent z, z' with identity covariance.
///
/// locater_covariance: trace tr(W S), scale tr(E[q q^T] W_K^T S W_K) with E[q q^T] = W_Q^T S W_Q + c c^T,
/// c = W_Q^T mu + b_Q: d_h times the variance of the logits of independent tokens of covariance S and mean
/// mu. With S = I, mu = 0 and b_Q = 0 it is LocAteR-Frobenius.
template <class Scalar>
EffectiveTraces effective_traces(const RegularizerSettings& settings,
                                 const std::vector<Matrix<Scalar>>& moments,
                                 const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head);

/// The penalty sum over the heads on which the settings let it act of
/// c_mean (trace/d - m*)^2 + c_scale scale/d; its gradient (moments held constant) is added to the model's.
/// 0 for other kinds.
template <class Scalar>
double add_effective_locater(const RegularizerSettings& settings,
                             const std::vector<double>& targets,
                             const std::vector<Matrix<Scalar>>& moments, Model<Scalar>& model);

}  // namespace eigenscope
