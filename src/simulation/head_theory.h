// A predicted measure of many heads from their traces.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "propagation/propagation.h"
#include "simulation/gaussian_rows.h"
#include "spectrum/ensemble.h"
#include "support/choice.h"

namespace eigenscope {

/// Localization and the mean of rho are in closed form; the measures of the exact softmax are expectations
/// over GaussianRows.
enum class TheoryMeasure {
  localization,
  rho_mean,
  entropy,
  participation,
  sensitivity_localization
};
inline constexpr std::array kTheoryMeasureNames{
    Choice{"localization", "localization"}, Choice{"rho_mean", "mean of ρ"},
    Choice{"entropy", "entropy"}, Choice{"participation", "participation"},
    Choice{"sensitivity_localization", "sensitivity"}};

struct HeadTheorySettings {
  TheoryMeasure measure = TheoryMeasure::localization;
  TokenProcess tokens;
  QueryRange queries;
  Eigen::Index samples = 2000;  ///< rows drawn for each head, by a measure of the exact softmax
  std::uint64_t seed = 1;
};

/// Values of the measure, an entry for each head.
struct HeadTheoryValues {
  Eigen::VectorXd value;             ///< NaN for a missing head
  Eigen::VectorXd error;             ///< standard error; 0 in closed form, NaN for a missing head
  std::vector<std::uint8_t> regime;  ///< Regime; `none` for a missing head
};

/// The heads of W(mean, variance), one mean after the other; none where the ensemble cannot have the variance.
/// Throws InvalidArgument as Ensemble does.
std::vector<std::optional<TracedHead>> heads_on_grid(const EnsembleSettings& ensemble,
                                                     const std::vector<double>& means,
                                                     const std::vector<double>& variances,
                                                     double temperature);

/// A job that advances in steps: by heads in closed form, else by samples of all heads.
class TracedHeadTheory {
 public:
  /// Throws InvalidArgument for anything out of range.
  TracedHeadTheory(const std::vector<std::optional<TracedHead>>& heads,
                   const HeadTheorySettings& settings);

  /// Takes up to `steps` more steps; true when all are done.
  bool advance(Eigen::Index steps);
  Eigen::Index steps_done() const { return rows_ ? rows_->steps_done() : next_; }
  Eigen::Index steps_wanted() const;
  /// About how many multiply-adds one step costs.
  double work_per_step() const;
  /// The values so far.
  HeadTheoryValues values() const;

 private:
  void put(HeadTheoryValues& values, std::size_t head, const Estimate& estimate,
           Regime regime) const;

  TheoryMeasure measure_;
  std::vector<CentredKernel> kernels_;
  std::vector<TracedHead> heads_;
  std::vector<std::size_t> places_;  // index among all heads of each of heads_
  std::optional<GaussianRows> rows_;
  Eigen::Index next_ = 0;  // head in closed form
  HeadTheoryValues closed_;
};

}  // namespace eigenscope
