#include "attention/random_energy.h"

#include <algorithm>
#include <cmath>

#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

double checked_keys(Index keys) { return checked(shared::kLength, static_cast<double>(keys)); }

// Points x of one logit and their probabilities.
struct LogitGrid {
  ArrayXd x, probability;

  explicit LogitGrid(double std) {
    // Beyond 8.5 standard deviations lies less than 1e-16 of the probability. Steps of half a standard
    // deviation sum the density, and of 1/4 exp(-exp(.)), to double precision.
    constexpr double kTails = 8.5;
    const double step = std::min(0.25, std / 2);
    const auto half = static_cast<Index>(std::ceil(kTails * std / step));
    x = step *
        ArrayXd::LinSpaced(2 * half + 1, -static_cast<double>(half), static_cast<double>(half));
    probability = (-0.5 * (x / std).square()).exp();
    probability /= probability.sum();
  }
};

}  // namespace

double freezing_point(Index keys) { return std::sqrt(2 * std::log(checked_keys(keys))); }

double random_energy_entropy(double logit_std, Index keys) {
  const double share = checked(kLogitStd, logit_std) / freezing_point(keys);
  return std::max(0.0, 1 - share * share);
}

IndependentRow independent_row(double logit_std, Index keys) {
  const double t = checked_keys(keys), log_keys = std::log(t);
  if (checked(kLogitStd, logit_std) == 0) return {log_keys, 0, 1 / t, 1};
  const LogitGrid grid(logit_std);
  constexpr double kStep = 0.25;
  // Below, phi(y)^T and exp(-exp(-y)) vanish; above, both differ from 1 by less than 1e-15.
  const double reach = grid.x[grid.x.size() - 1];
  const double low = -reach - 4, high = reach + log_keys + 37;
  IndependentRow row;
  for (double y = low; y <= high; y += kStep) {
    // exp(-w) is 0 to double precision from w = 745 = exp(6.6) on.
    const ArrayXd w = (grid.x - y).min(7.0).exp();
    const ArrayXd damped = grid.probability * (-w).exp();
    const double phi = damped.sum();
    const double others = std::pow(phi, t - 1);
    row.log_sum += std::exp(-std::exp(-y)) - others * phi;
    row.mean_logit += others * (damped * w * grid.x).sum();
    row.square_weight += others * (damped * w.square()).sum();
  }
  row.log_sum *= kStep;
  row.mean_logit *= t * kStep;
  row.square_weight *= t * kStep;
  row.entropy = (row.log_sum - row.mean_logit) / log_keys;
  return row;
}

}  // namespace eigenscope
