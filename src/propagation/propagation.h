// Signal propagation probability and what it says of localization.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <string_view>

#include "propagation/logit_law.h"

namespace eigenscope {

/// rho_i = P(-lambda < omega_i - omega_bar < lambda (T - 1)): the probability that key i is strictly
/// inside the range of the piecewise linear softmax, so that a gradient passes (Bao et al., 2024).
/// T is the number of keys, lambda > 0 the temperature. Normal approximation of the logits, by
/// differences of erfc so that tails keep their relative precision. A zero standard deviation gives
/// 0 or 1. Throws InvalidArgument ("temperature").
Eigen::VectorXd propagation_probability(const LogitLaw& law, double temperature);

/// About how many multiply-adds propagate() costs for each key: two error functions, a square root.
inline constexpr double kPropagationWork = 60;

/// P(low < mean + std Z < high), Z standard normal, for std >= 0 and low <= high.
double normal_interval(double mean, double std, double low, double high);

/// L = 1 - (sum w)^2 / (T sum w^2) of T weights, in [0, 1 - 1/T]: 0 when all are alike. NaN when every
/// weight is 0, or there is none: there is nothing to be localized.
double localization_index(const Eigen::VectorXd& weights);

/// Where in the sequence the signal propagates.
enum class Regime { uniform, late, middle, early, none };
inline constexpr std::array<std::string_view, 5> kRegimeNames{"uniform", "late", "middle", "early",
                                                              "none"};
inline std::string_view regime_name(Regime regime) {
  return kRegimeNames[static_cast<std::size_t>(regime)];
}

/// Below this index a profile counts as uniform. It lies above 0.085, the value to which L tends
/// for the free walk as the variance grows without bound, whatever the mean.
inline constexpr double kUniformBelow = 0.1;

/// The regime of a profile rho(i): `uniform` below kUniformBelow; `late` (`early`) when its centre
/// is in the second (first) half and the last (first) token still has half of the largest
/// probability; `middle` otherwise; `none` when nothing propagates.
Regime regime_of(const Eigen::VectorXd& rho);

/// Everything the theory says of one head or setting.
struct Propagation {
  LogitLaw law;
  Eigen::VectorXd rho;  ///< T entries in [0, 1], one a key
  double localization = std::numeric_limits<double>::quiet_NaN();
  Regime regime = Regime::none;
};
/// Throws InvalidArgument as check_traces and propagation_probability do.
Propagation propagate(const CentredKernel& kernel, const Traces& traces, double temperature);

}  // namespace eigenscope
