#include "simulation/row_statistics.h"

#include <cmath>
#include <utility>

#include "statistics/estimate.h"
#include "support/shared_parameters.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;

double index_of(const ArrayXd& profile) {
  if (profile.isNaN().any()) return std::numeric_limits<double>::quiet_NaN();
  return localization_index(profile);
}

}  // namespace

RowStatistics::RowStatistics(Eigen::VectorXd expected, double temperature)
    : expected_(std::move(expected)),
      temperature_(checked(shared::kTemperature, temperature)),
      powers_(ArrayXXd::Zero(expected_.size(), 4)),
      seen_(ArrayXXd::Zero(expected_.size(), kGroups)),
      inside_(seen_),
      sensitivity_(seen_),
      sensitivity_square_(ArrayXd::Zero(expected_.size())),
      weights_(expected_.size()) {}

void RowStatistics::add(const Eigen::VectorXd& centred_logits) {
  const Index group = samples_ % kGroups;
  const Index keys = centred_logits.size();
  const double upper = temperature_ * static_cast<double>(keys - 1);
  seen_.col(group).head(keys) += 1;
  for (Index i = 0; i < keys; ++i) {
    const double logit = centred_logits[i];
    const double deviation = logit - expected_[i];
    const double square = deviation * deviation;
    powers_(i, 0) += deviation;
    powers_(i, 1) += square;
    powers_(i, 2) += square * deviation;
    powers_(i, 3) += square * square;
    inside_(i, group) += static_cast<double>((-temperature_ < logit) & (logit < upper));
  }
  add_softmax(centred_logits, group);
  ++samples_;
}

void RowStatistics::add_softmax(const Eigen::VectorXd& centred_logits, Index group) {
  const Index keys = centred_logits.size();
  const double largest = centred_logits.maxCoeff();
  const double scale = 1 / temperature_;
  for (Index i = 0; i < keys; ++i) {
    weights_[i] = exp_nonpositive(static_cast<float>((centred_logits[i] - largest) * scale));
  }
  double sum = 0, square = 0, weighted_logit = 0;
  for (Index i = 0; i < keys; ++i) {
    const double weight = weights_[i];
    sum += weight;
    square += weight * weight;
    weighted_logit += weight * (centred_logits[i] - largest);
  }
  double sensitivity = 0;
  for (Index i = 0; i < keys; ++i) {
    const double p = weights_[i] / sum;
    const double s = p * (1 - p);
    sensitivity += s;
    sensitivity_(i, group) += s;
    sensitivity_square_[i] += s * s;
  }
  sensitivity_of_row_.add(sensitivity);
  const auto t = static_cast<double>(keys);
  // -sum p log p with log p_i = x_i - log sum, without a logarithm a key.
  const double entropy = (std::log(sum) - weighted_logit * scale / sum) / std::log(t);
  entropy_.add(entropy);
  participation_.add(sum * sum / (t * square));
}

RowEstimate RowStatistics::estimate() const {
  const Index t = expected_.size();
  RowEstimate out;
  out.samples = samples_;
  if (samples_ < 2) {
    const auto nan = Eigen::VectorXd::Constant(t, std::numeric_limits<double>::quiet_NaN());
    out.mean = out.mean_error = out.std = out.std_error = out.rho = out.rho_error = nan;
    out.sensitivity = out.sensitivity_error = nan;
    return out;
  }
  const ArrayXd seen = seen_.rowwise().sum();
  const ArrayXd d1 = powers_.col(0) / seen, d2 = powers_.col(1) / seen, d3 = powers_.col(2) / seen,
                d4 = powers_.col(3) / seen;
  const ArrayXd variance = (d2 - d1.square()).max(0.0);
  const ArrayXd fourth = d4 - 4 * d1 * d3 + 6 * d1.square() * d2 - 3 * d1.square().square();
  out.mean = expected_.array() + d1;
  out.mean_error = (variance / (seen - 1)).sqrt();
  out.std = (variance * (seen / (seen - 1))).sqrt();
  // Delta method on the error of a sample variance; 0 where nothing varies.
  out.std_error =
      (variance > 0)
          .select(((fourth - variance.square()).max(0.0) / (4 * seen * variance)).sqrt(), 0.0);
  const ArrayXd hits = inside_.rowwise().sum();
  out.rho = hits / seen;
  // One success and one failure are added (rule of succession), so that a share of 0 or 1 has an error.
  const ArrayXd shrunk = (hits + 1) / (seen + 2);
  out.rho_error = (shrunk * (1 - shrunk) / seen).sqrt();
  const ArrayXd sensitivity_sum = sensitivity_.rowwise().sum();
  out.sensitivity = sensitivity_sum / seen;
  out.sensitivity_error =
      ((sensitivity_square_ / seen - (sensitivity_sum / seen).square()).max(0.0) / (seen - 1))
          .sqrt();
  const Index groups = std::min(samples_, kGroups);
  out.localization = jackknife(inside_, seen_, groups, index_of);
  out.rho_mean = jackknife(inside_, seen_, groups, [](const ArrayXd& rho) { return rho.mean(); });
  out.rho_mean.value = out.rho.mean();
  out.sensitivity_localization = jackknife(sensitivity_, seen_, groups, index_of);
  out.entropy = entropy();
  out.participation = participation();
  if (!out.rho.array().isNaN().any()) out.regime = regime_of(out.rho);
  out.signal = signal_of(out.localization.value, out.rho_mean.value);
  if (soft_rows() < kSoftRows) {
    out.sensitivity_localization.error = std::numeric_limits<double>::quiet_NaN();
  }
  if (samples_ < kRowsForErrors) forget_errors(out);
  return out;
}

double RowStatistics::soft_rows() const {
  const auto [mean, error] = sensitivity_of_row_.estimate();
  const auto n = static_cast<double>(samples_);
  const double variance = error * error * (n - 1);
  return mean > 0 ? n * mean * mean / (mean * mean + variance) : 0;
}

void RowStatistics::forget_errors(RowEstimate& estimate) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (Eigen::VectorXd* errors : {&estimate.mean_error, &estimate.std_error, &estimate.rho_error,
                                  &estimate.sensitivity_error}) {
    errors->setConstant(kNaN);
  }
  for (Estimate* scalar : {&estimate.localization, &estimate.rho_mean, &estimate.entropy,
                           &estimate.participation, &estimate.sensitivity_localization}) {
    scalar->error = kNaN;
  }
}

}  // namespace eigenscope
