// Monte Carlo of attention rows for one ensemble at any number of means and variances, and over a
// grid of them, which is the data of the main plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/logit_sampler.h"
#include "simulation/row_statistics.h"
#include "support/parameter.h"

namespace eigenscope {

struct SimulationSettings {
  EnsembleSettings ensemble;
  TokenProcess tokens;
  double temperature = 8;
  Eigen::Index samples = 2000;
  std::vector<SpectrumPoint> points;
  QueryRange queries = {};  ///< sample k has the query queries.of_sample(k)
};

/// A job that advances in steps. Sample k uses stream k of the ensemble's seed, for every point
/// alike: so a point's numbers do not depend on which other points are simulated beside it, nor on
/// how the work was cut; and the errors of neighbouring points are correlated.
class Simulation {
 public:
  /// Throws InvalidArgument for anything out of range, or a point that the ensemble cannot have.
  explicit Simulation(const SimulationSettings& settings);

  /// Draws up to `samples` more sequences; true when all are drawn.
  bool advance(Eigen::Index samples);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const { return wanted_; }
  /// About how many multiply-adds one sample costs.
  double work_per_step() const;

  const Ensemble& ensemble() const { return ensemble_; }
  /// Traces of W at a point.
  SpectralMoments moments(std::size_t point) const {
    return ensemble_.moments(points_[point].mean, points_[point].variance);
  }
  /// The theory at a point (index into settings.points).
  Propagation theory(std::size_t point) const;
  /// Statistics of the rows sampled so far.
  RowEstimate estimate(std::size_t point) const { return statistics_[point].estimate(); }

 private:
  Ensemble ensemble_;
  double temperature_;
  Eigen::Index wanted_, done_ = 0;
  QueryRange queries_;
  std::vector<CentredKernel> kernels_;
  LogitSampler sampler_;
  std::vector<SpectrumPoint> points_;
  std::vector<EnsembleWeights> weights_;
  std::vector<RowStatistics> statistics_;
  Eigen::VectorXd centre_, spread_, row_;
};

/// Settings of a sweep over a range of variances.
inline constexpr Parameter kVarianceMin{"variance_min", reals_above(0, 1e+06), 0.0001,
                                        "smallest variance of a range"};
inline constexpr Parameter kVarianceMax{"variance_max", reals_above(0, 1e+06), 100,
                                        "largest variance of a range"};
inline constexpr Parameter kVarianceCount{"count", integers(2, 1000), 25,
                                          "number of variances in a range"};

/// `count` variances from `least` to `most` at equal ratios. Throws InvalidArgument ("variance_min",
/// "variance_max", "count") when out of range or least > most.
std::vector<double> variance_range(double least, double most, Eigen::Index count);

/// Simulation on the grid means x variances (one mean after the other). A point that the ensemble
/// cannot have is kept, without numbers and with the reason, so that a figure can show the gap.
class Sweep {
 public:
  /// `settings.points` is made from the grid. Throws InvalidArgument for anything out of range.
  Sweep(SimulationSettings settings, const std::vector<double>& means,
        const std::vector<double>& variances);

  bool advance(Eigen::Index samples) { return simulation_.advance(samples); }
  Eigen::Index steps_done() const { return simulation_.steps_done(); }
  Eigen::Index steps_wanted() const { return simulation_.steps_wanted(); }
  double work_per_step() const { return simulation_.work_per_step(); }

  const Ensemble& ensemble() const { return simulation_.ensemble(); }
  std::size_t size() const { return cells_.size(); }
  const SpectrumPoint& point(std::size_t i) const { return cells_[i].point; }
  /// Why point i has no numbers; empty when it has.
  const std::string& refused(std::size_t i) const { return cells_[i].refused; }
  /// Result of point i < size(); NaN and empty where the point is refused.
  Propagation theory(std::size_t i) const;
  RowEstimate estimate(std::size_t i) const;

 private:
  struct Cell {
    SpectrumPoint point;
    std::string refused;
    std::size_t simulated = 0;  // its index in the simulation
  };
  static std::vector<Cell> make_cells(SimulationSettings& settings,
                                      const std::vector<double>& means,
                                      const std::vector<double>& variances);

  std::vector<Cell> cells_;  // before simulation_: making them fills its settings
  Simulation simulation_;
};

}  // namespace eigenscope
