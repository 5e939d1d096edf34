// One row of attention whose logits are independent normal numbers: Derrida's random energy model
// (Phys. Rev. B 24, 2613, 1981) with the keys as states and the softmax as Boltzmann weights.
#pragma once

#include <Eigen/Core>

#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kLogitStd{
    "logit_std", reals(0, 100), 1,
    "standard deviation s of independent logits over the temperature"};

/// Expected normalized row entropy H / log T of T independent logits of standard deviation s (after
/// division by the temperature) as T grows: 1 - s^2 / (2 log T), and 0 from the freezing point
/// s^2 = 2 log T on, where single keys take all the weight. At finite T it lies below the expectation
/// by terms of order 1 / log T, most of all near the freezing point. Throws InvalidArgument
/// ("logit_std"; "length" for fewer than two keys).
double random_energy_entropy(double logit_std, Eigen::Index keys);

/// sqrt(2 log T): the standard deviation of the logits from which on a long row is frozen.
double freezing_point(Eigen::Index keys);

/// Expectations over one such row, exact at every T up to the quadrature's error (below 1e-9).
struct IndependentRow {
  double log_sum = 0;        ///< E log sum_i exp(x_i)
  double mean_logit = 0;     ///< E sum_i p_i x_i
  double square_weight = 0;  ///< E sum_i p_i^2, the inverse number of keys that take part
  double entropy = 0;        ///< E H / log T, H = log_sum - mean_logit
};

/// By the Laplace transform of Z = sum_i exp(x_i): with w = exp(x - y) and phi(y) = E exp(-w) over one
/// logit x,
///   E log Z          = integral over y of exp(-exp(-y)) - phi(y)^T,
///   E sum_i p_i f(x_i) = T integral of E[f(x) w exp(-w)] phi(y)^(T-1),
///   E sum_i p_i^2    = T integral of E[w^2 exp(-w)] phi(y)^(T-1).
/// Both integrals are trapezoidal sums, whose error is exponentially small in the step for such
/// integrands. Costs about 1e5 exponentials for s = 4, in proportion to (s + 5)^2 for larger s.
/// Errors as above.
IndependentRow independent_row(double logit_std, Eigen::Index keys);

}  // namespace eigenscope
