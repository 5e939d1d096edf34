// Signal propagation probability, and the localization that follows from it.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <span>

#include "propagation/logit_law.h"
#include "support/choice.h"

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

/// Part of the sequence in which the signal propagates.
enum class Regime { uniform, late, middle, early, none };
inline constexpr std::array kRegimeNames{
    Choice{"uniform", "uniform"}, Choice{"late", "late tokens"}, Choice{"middle", "middle tokens"},
    Choice{"early", "early tokens"}, Choice{"none", "no propagation"}};

/// Below this index a profile counts as uniform. It lies above 0.085, the value to which L tends
/// for the free walk as the variance grows without bound, whatever the mean.
inline constexpr double kUniformBelow = 0.1;

/// The regime of a profile rho(i): `uniform` below kUniformBelow; `late` (`early`) when its centre
/// is in the second (first) half and the last (first) token still has half of the largest
/// probability; `middle` otherwise; `none` when nothing propagates.
Regime regime_of(const Eigen::VectorXd& rho);

/// Presence and localization of a signal, from the localization index and the mean of rho. The index
/// alone calls a profile in which all keys are clipped alike as uniform as one in which none is.
enum class Signal { localized, alive, dead, none };
inline constexpr std::array kSignalNames{
    Choice{"localized", "localized"}, Choice{"uniform-alive", "uniform, alive"},
    Choice{"uniform-dead", "uniform, dead"}, Choice{"none", "no propagation"}};

/// Below this mean of rho a uniform profile counts as dead. Logits far wider than lambda, but not yet
/// than lambda (T - 1), leave a mean of 1/2: the keys below the row's mean are clipped at 0, those
/// above it still pass. Below 1/4 more than half of these are clipped at 1 as well.
inline constexpr double kDeadBelow = 0.25;

/// `localized` from an index of kUniformBelow on; below, `alive` or `dead` by the mean of rho; `none`
/// where the index is NaN, because nothing propagates.
Signal signal_of(double localization, double rho_mean);

/// Predictions of the theory for one head or setting.
struct Propagation {
  LogitLaw law;
  Eigen::VectorXd rho;  ///< T entries in [0, 1], one a key
  double localization = std::numeric_limits<double>::quiet_NaN();
  double rho_mean = std::numeric_limits<double>::quiet_NaN();  ///< mean of rho over the keys
  Regime regime = Regime::none;
  Signal signal = Signal::none;
};
/// Throws InvalidArgument as check_traces and propagation_probability do.
Propagation propagate(const CentredKernel& kernel, const Traces& traces, double temperature);

/// Predicts L where each of several queries is as likely: rho_i is the mean over the queries that see key i,
/// each with its number of keys in the place of T; everything else follows from this profile.
/// `kernels` as for logit_law.
Propagation propagate(std::span<const CentredKernel> kernels, const Traces& traces,
                      double temperature);

}  // namespace eigenscope
