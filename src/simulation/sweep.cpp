#include "simulation/sweep.h"

#include <cmath>

#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {

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
