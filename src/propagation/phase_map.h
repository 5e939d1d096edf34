// Localization over the plane (xi/lambda, sqrt(eta_F)/lambda), which determines it for long sequences.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "propagation/propagation.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kAsymmetry{"asymmetry", reals(-1, 1), 1,
                                      "eta_S/eta_F; 1 for a symmetric W"};

/// `count` >= 2 numbers from `from` to `to`.
struct Axis {
  double from = 0;
  double to = 1;
  Eigen::Index count = 2;
};

struct PhaseMapSettings {
  TokenProcess tokens;
  double asymmetry = 1;  ///< eta_S/eta_F in [-1, 1]; 1 for symmetric W
  Axis x;                ///< xi/lambda, equal steps
  Axis y;                ///< sqrt(eta_F)/lambda, equal ratios, from > 0
};

/// A job that fills the map coarse first: after a quarter of a percent of the work every cell has
/// the value of a neighbour at most `kCoarsest` - 1 cells away.
class PhaseMap {
 public:
  /// Throws InvalidArgument ("asymmetry", "x", "y") for anything out of range.
  explicit PhaseMap(const PhaseMapSettings& settings);

  /// Computes up to `cells` more cells; true when all are done.
  bool advance(Eigen::Index cells);
  double progress() const;
  /// About how many multiply-adds one cell costs.
  double work_per_step() const;

  Eigen::Index columns() const { return settings_.x.count; }
  Eigen::Index rows() const { return settings_.y.count; }
  /// xi/lambda of a column and sqrt(eta_F)/lambda of a row.
  double x(Eigen::Index column) const;
  double y(Eigen::Index row) const;
  /// Row-major, row 0 at y.from; NaN where nothing propagates.
  const std::vector<float>& localization() const { return localization_; }
  /// Mean of rho of each cell, in the same order.
  const std::vector<float>& rho_mean() const { return rho_mean_; }
  /// The Signal of each cell.
  const std::vector<std::uint8_t>& signal() const { return signal_; }
  /// The Regime of each cell.
  const std::vector<std::uint8_t>& regime() const { return regime_; }

 private:
  static constexpr Eigen::Index kCoarsest = 16;

  void compute(Eigen::Index column, Eigen::Index row);
  void next_cell();

  PhaseMapSettings settings_;
  CentredKernel kernel_;
  std::vector<float> localization_, rho_mean_;
  std::vector<std::uint8_t> regime_, signal_;
  Eigen::Index stride_ = kCoarsest, column_ = 0, row_ = 0, computed_ = 0;
};

}  // namespace eigenscope
