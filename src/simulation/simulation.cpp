#include "simulation/simulation.h"

#include <algorithm>

#include "support/shared_parameters.h"

namespace eigenscope {

Simulation::Simulation(const SimulationSettings& settings)
    : ensemble_(settings.ensemble),
      temperature_(checked(shared::kTemperature, settings.temperature)),
      wanted_(static_cast<Eigen::Index>(
          checked(shared::kSamples, static_cast<double>(settings.samples)))),
      queries_(checked_queries(settings.tokens, settings.queries)),
      kernels_(centred_kernels(settings.tokens, queries_)),
      sampler_(ensemble_.width(), settings.tokens, queries_.last, settings.ensemble.seed),
      points_(settings.points) {
  for (const SpectrumPoint& point : points_) {
    weights_.push_back(ensemble_.weights(point.mean, point.variance));
    const LogitLaw law = logit_law(kernels_, ensemble_.moments(point.mean, point.variance).traces);
    statistics_.emplace_back(law.mean, temperature_);
  }
}

bool Simulation::advance(Eigen::Index samples) {
  const Eigen::Index stop = done_ + std::min(samples, wanted_ - done_);
  for (; done_ < stop; ++done_) {
    const auto sample = static_cast<std::uint64_t>(done_);
    sampler_.draw(ensemble_, sample, queries_.of_sample(sample), centre_, spread_);
    for (std::size_t k = 0; k < points_.size(); ++k) {
      row_ = weights_[k].centre * centre_ + weights_[k].spread * spread_;
      statistics_[k].add(row_);
    }
  }
  return done_ == wanted_;
}

double Simulation::work_per_step() const {
  const auto t = static_cast<double>(queries_.last);
  const auto d = static_cast<double>(ensemble_.width());
  constexpr double kNormal = 8, kRow = 20;  // one normal number, one key of one row
  return kNormal * t * d + kRow * t * static_cast<double>(points_.size());
}

Propagation Simulation::theory(std::size_t point) const {
  return propagate(kernels_, moments(point).traces, temperature_);
}

}  // namespace eigenscope
