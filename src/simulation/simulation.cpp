#include "simulation/simulation.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"
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

std::vector<double> variance_range(double least, double most, Eigen::Index count) {
  checked(kVarianceMin, least);
  checked(kVarianceMax, most);
  checked(kVarianceCount, static_cast<double>(count));
  if (least > most) {
    throw InvalidArgument("variance_min", "be at most variance_max",
                          "variance_max " + shown(most) + ", variance_min " + shown(least));
  }
  std::vector<double> numbers(static_cast<std::size_t>(count));
  const auto steps = static_cast<double>(count - 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = least * std::pow(most / least, static_cast<double>(i) / steps);
  }
  return numbers;
}

Sweep::Sweep(SimulationSettings settings, const std::vector<double>& means,
             const std::vector<double>& variances)
    : cells_(make_cells(settings, means, variances)), simulation_(settings) {}

std::vector<Sweep::Cell> Sweep::make_cells(SimulationSettings& settings,
                                           const std::vector<double>& means,
                                           const std::vector<double>& variances) {
  const Ensemble ensemble(settings.ensemble);
  settings.points.clear();
  std::vector<Cell> cells;
  for (const double mean : means) {
    for (const double variance : variances) {
      Cell cell{{checked(shared::kMean, mean), checked(shared::kVariance, variance)}, "", 0};
      try {
        ensemble.weights(mean, variance);
        cell.simulated = settings.points.size();
        settings.points.push_back(cell.point);
      } catch (const InvalidArgument& refusal) {
        cell.refused = refusal.what();
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

Propagation Sweep::theory(std::size_t i) const {
  return cells_[i].refused.empty() ? simulation_.theory(cells_[i].simulated) : Propagation{};
}

RowEstimate Sweep::estimate(std::size_t i) const {
  return cells_[i].refused.empty() ? simulation_.estimate(cells_[i].simulated) : RowEstimate{};
}

}  // namespace eigenscope
