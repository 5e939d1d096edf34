#include "propagation/propagation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/shared_parameters.h"

namespace eigenscope {

double normal_interval(double mean, double std, double low, double high) {
  if (std == 0) return low < mean && mean < high ? 1.0 : 0.0;
  const double a = (low - mean) / (std * std::numbers::sqrt2);
  const double b = (high - mean) / (std * std::numbers::sqrt2);
  if (a >= 0) return 0.5 * (std::erfc(a) - std::erfc(b));
  if (b <= 0) return 0.5 * (std::erfc(-b) - std::erfc(-a));
  return 0.5 * (std::erf(b) - std::erf(a));
}

Eigen::VectorXd propagation_probability(const LogitLaw& law, double temperature) {
  checked(shared::kTemperature, temperature);
  const double upper = temperature * static_cast<double>(law.mean.size() - 1);
  return law.mean.binaryExpr(law.std, [&](double mean, double std) {
    return normal_interval(mean, std, -temperature, upper);
  });
}

double localization_index(const Eigen::VectorXd& weights) {
  if (weights.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  const double largest = weights.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return std::numeric_limits<double>::quiet_NaN();
  // Over the largest, by which squares of tiny tails do not underflow, and equal weights have their mean exactly. Of
  // nearly equal ones 1 - S^2/(T S_2) would leave rounding alone.
  double mean = 0;
  for (const double weight : weights) mean += weight / largest;
  mean /= static_cast<double>(weights.size());
  double spread = 0, square = 0;
  for (const double weight : weights) {
    const double relative = weight / largest;
    spread += (relative - mean) * (relative - mean);
    square += relative * relative;
  }
  return spread / square;
}

Regime regime_of(const Eigen::VectorXd& rho) {
  const double localization = localization_index(rho);
  if (std::isnan(localization)) return Regime::none;
  if (localization < kUniformBelow) return Regime::uniform;
  const Eigen::Index n = rho.size();
  const Eigen::ArrayXd position = Eigen::ArrayXd::LinSpaced(n, -1, 1);
  const bool second_half = (rho.array() * position).sum() > 0;
  const double half = rho.maxCoeff() / 2;
  if (second_half && rho[n - 1] >= half) return Regime::late;
  if (!second_half && rho[0] >= half) return Regime::early;
  return Regime::middle;
}

Signal signal_of(double localization, double rho_mean) {
  if (std::isnan(localization)) return Signal::none;
  if (localization >= kUniformBelow) return Signal::localized;
  return rho_mean < kDeadBelow ? Signal::dead : Signal::alive;
}

Propagation propagate(const CentredKernel& kernel, const Traces& traces, double temperature) {
  return propagate(std::span(&kernel, 1), traces, temperature);
}

Propagation propagate(std::span<const CentredKernel> kernels, const Traces& traces,
                      double temperature) {
  Propagation result;
  result.law = logit_law(kernels, traces);
  if (kernels.size() == 1) {
    result.rho = propagation_probability(result.law, temperature);
  } else {
    const Eigen::Index keys = result.law.mean.size();
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(keys), seen = sum;
    for (const CentredKernel& kernel : kernels) {
      const Eigen::VectorXd rho = propagation_probability(logit_law(kernel, traces), temperature);
      sum.head(rho.size()) += rho.array();
      seen.head(rho.size()) += 1;
    }
    result.rho = sum / seen;
  }
  result.localization = localization_index(result.rho);
  result.rho_mean = result.rho.mean();
  result.regime = regime_of(result.rho);
  result.signal = signal_of(result.localization, result.rho_mean);
  return result;
}

}  // namespace eigenscope
