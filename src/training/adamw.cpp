#include "training/adamw.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace eigenscope {

using Eigen::Index;

double learning_rate_at(const OptimizerSettings& settings, Index step) {
  const double largest = settings.learning_rate;
  if (step < settings.warmup) {
    return largest * static_cast<double>(step + 1) / static_cast<double>(settings.warmup);
  }
  const auto span = static_cast<double>(std::max<Index>(1, settings.steps - settings.warmup));
  const double done = std::min(1.0, static_cast<double>(step - settings.warmup) / span);
  if (settings.schedule == Schedule::constant) return largest;
  const double share = settings.schedule == Schedule::linear
                           ? 1 - done
                           : 0.5 * (1 + std::cos(std::numbers::pi * done));
  return largest * (settings.final_rate + (1 - settings.final_rate) * share);
}

double gradient_norm(const float* gradient, Index count) {
  constexpr Index kLanes = 8;
  double lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(gradient[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < count; ++i)
    lanes[0] += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum);
}

AdamW::AdamW(const OptimizerSettings& settings, Vector<float> decay, Vector<float> rate)
    : first(Vector<float>::Zero(decay.size())),
      second(Vector<float>::Zero(decay.size())),
      settings_(settings),
      decay_(std::move(decay)),
      rate_(rate.size() > 0 ? std::move(rate) : Vector<float>::Ones(decay_.size())) {}

void AdamW::step(Index step, float shrink, const Vector<float>& gradient, Vector<float>& parameters,
                 double rate) {
  const auto count = static_cast<double>(step + 1);
  const auto step_rate = static_cast<float>(rate * learning_rate_at(settings_, step));
  const auto epsilon = static_cast<float>(settings_.epsilon);
  const auto beta1 = static_cast<float>(settings_.beta1),
             beta2 = static_cast<float>(settings_.beta2);
  const auto correct1 = static_cast<float>(1 / (1 - std::pow(settings_.beta1, count)));
  const auto correct2 = static_cast<float>(1 / (1 - std::pow(settings_.beta2, count)));
  // One pass over all arrays: three expressions of Eigen would be three.
  const float* const slope = gradient.data();
  const float* const decay = decay_.data();
  const float* const factor = rate_.data();
  float* const m = first.data();
  float* const v = second.data();
  float* const p = parameters.data();
  for (Index i = 0; i < parameters.size(); ++i) {
    const float g = slope[i] * shrink;
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    const float direction = (m[i] * correct1) / (std::sqrt(v[i] * correct2) + epsilon);
    p[i] -= step_rate * factor[i] * (direction + decay[i] * p[i]);
  }
}

}  // namespace eigenscope
