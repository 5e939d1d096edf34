// The query-key matrix of a rotary head over the distance between query and key.
#pragma once

#include <Eigen/Core>

#include "nn/rotary.h"
#include "spectrum/traces.h"

namespace eigenscope {

/// W(D) = W_Q R(D) W_K^T, for keys D tokens before their query: the sum over pairs of coordinates of their turned
/// blocks, and of the coordinates that are not turned.
struct RotaryCircuit {
  Eigen::VectorXd mean, variance,
      variance_frobenius;  ///< of W(D), see SpectralMoments; D = 0 to `distances` - 1
  /// tr W(D) / sqrt(d_h): expected logit of a token x with E[x x^T] = I and its copy at distance D.
  Eigen::VectorXd logit;
  Eigen::VectorXd angle;  ///< by which one position turns each pair, in radians
  /// Share of each pair in ||W_Q||_F^2 and in ||W_K||_F^2; the rest is in coordinates that are not turned.
  Eigen::VectorXd query_energy, key_energy;
  /// Excess of logit(1) over the mean of logit at the other distances, over the mean of ||W(D)||_F / sqrt(d_h),
  /// which is the standard deviation of the logits of independent tokens. Positive where the head prefers the
  /// previous token by weights alone; NaN for W = 0.
  double previous_token = 0;
};

/// The rotary circuit of d x d_h factors at offset 0, the logits' factor of `rotary` included. Costs O(d d_h^2 +
/// distances d_h^2). Throws InvalidArgument ("length") for fewer than two distances, and as products_of_factors does.
RotaryCircuit rotary_circuit(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                             const Rotary& rotary, Eigen::Index distances);

}  // namespace eigenscope
