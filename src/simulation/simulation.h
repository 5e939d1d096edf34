// Monte Carlo of attention rows for one ensemble at any number of means and variances.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/logit_sampler.h"
#include "simulation/row_statistics.h"

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

}  // namespace eigenscope
