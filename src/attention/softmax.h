// One row of attention: its weights, and the measures taken on them.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "support/vector_math.h"

namespace eigenscope {

/// exp(omega_i / lambda) / sum_j exp(omega_j / lambda), safe against overflow. `logits`: one entry a
/// key, at least one, finite, before division by the temperature lambda. Throws InvalidArgument
/// ("temperature").
Eigen::VectorXd softmax(const Eigen::VectorXd& logits, double temperature);

/// clip(1/T + (omega_i - omega_bar)/(lambda T), 0, 1): the first-order expansion of softmax at equal
/// logits, clipped (Bao et al., 2024). The weights need not add up to 1. Arguments and errors as for
/// softmax.
Eigen::VectorXd piecewise_linear_softmax(const Eigen::VectorXd& logits, double temperature);

/// All weight on the largest logit, shared equally where several are largest (hard attention,
/// arXiv:2009.14658): the limit of softmax as the temperature goes to 0.
Eigen::VectorXd hard_softmax(const Eigen::VectorXd& logits);

/// Replaces `keys` logits, times `scale`, by their hard softmax.
template <class Scalar>
void hard_softmax_in_place(Scalar* logits, Eigen::Index keys, Scalar scale) {
  Scalar largest = logits[0] * scale;
  for (Eigen::Index i = 1; i < keys; ++i) largest = std::max(largest, logits[i] * scale);
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < keys; ++i) count += logits[i] * scale == largest;
  const Scalar share = Scalar(1) / static_cast<Scalar>(count);
  for (Eigen::Index i = 0; i < keys; ++i)
    logits[i] = logits[i] * scale == largest ? share : Scalar(0);
}

/// -p log p in nats of a weight p in [0, 1]. Below the normal numbers it is far below the rounding of a row's sum.
template <class Scalar>
EIGENSCOPE_INLINE Scalar entropy_term(Scalar p) {
  return -p * log_unit(std::max(p, std::numeric_limits<Scalar>::min()));
}

/// Entropy -sum p log p of a row in nats; terms with p = 0 count 0.
double row_entropy(const Eigen::VectorXd& weights);

/// row_entropy over log T, in [0, 1] for weights that add up to 1. NaN for a row of one key, whose
/// entropy can only be 0.
double normalized_entropy(const Eigen::VectorXd& weights);

/// 1/(T sum p^2), in [1/T, 1]: the share of the keys that take part.
double participation(const Eigen::VectorXd& weights);

/// p_i (1 - p_i): the derivative of softmax weight i by logit i, times the temperature.
Eigen::VectorXd sensitivity(const Eigen::VectorXd& weights);

/// The derivative of a weight of piecewise_linear_softmax by its logit: (1 - 1/T)/T inside the linear range, where the
/// weight lies between 0 and 1, and 0 elsewhere.
Eigen::VectorXd piecewise_linear_sensitivity(const Eigen::VectorXd& weights);

/// Logits and weights of a query over the `keys` keys that it sees. `query` is its position counted from the first of
/// them.
template <class Scalar>
struct AttentionRow {
  const Scalar* logits;
  const Scalar* weights;
  Eigen::Index keys, query;
};

/// Sums over the keys that a query sees.
struct RowSums {
  double logits = 0, weights = 0;
  double entropy = 0;   ///< -p log p, nats
  double squares = 0;   ///< p^2
  double distance = 0;  ///< p_i |i - query|
};

/// The sums of a row of weights, in the widest vectors that the processor has. The terms of the entropy are computed in
/// the precision of the row, all sums in double.
template <class Scalar>
RowSums sums_of(const AttentionRow<Scalar>& row);

}  // namespace eigenscope
