// Predictions and measurements of a head, the parts of a prediction that enter them, and the
// explanation of a head's attention that follows.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "inference/head_measures.h"
#include "prediction/head_metrics.h"
#include "prediction/levels.h"
#include "spectrum/traces.h"
#include "text/passages.h"

namespace eigenscope {

/// Predictions of the isotropic theory for a head, which need no eigenvalues.
struct HeadTheory {
  SpectralMoments moments;  ///< moments of W, with the gain of a pre-norm folded in
  double localization = 0;  ///< for the kernel of level 0, temperature sqrt(d_h); may be NaN
};

struct HeadPrediction {
  /// A head of which nothing is known: all measures are NaN.
  explicit HeadPrediction(int layer = 0, int head = 0);

  int layer, head;
  HeadMeasures measured, ceiling;  ///< all NaN without passages, and before they are measured
  HeadMeasures transfer;           ///< on the passages of another text; NaN as above
  MeasuredLogits measured_logits;  ///< on the measured passages
  HeadMeter ceiling_rows;          ///< rows behind `ceiling`, without those of the statistics
  HeadTheory report;
  std::array<HeadInMetric, kMetricNames.size()> metrics;  ///< by Metric
  std::array<HeadMeasures, kLevels.size()> levels;  ///< by Level; NaN for what a level does not say
  /// Mean weights by distance, as HeadMeter::by_distance: measured, empty without passages, and those of the last
  /// Gaussian level, `neighbours`.
  Eigen::VectorXd measured_by_distance, gaussian_by_distance;

  HeadInMetric& in(Metric metric) { return metrics[static_cast<std::size_t>(metric)]; }
  HeadMeasures& at(Level level) { return levels[static_cast<std::size_t>(level)]; }
  /// Adds rows to those that the ceiling measures.
  void add_ceiling(const HeadMeter& rows);
};

/// The heads as bytes, for another process of the same build.
std::vector<std::byte> bytes_of(const std::vector<HeadPrediction>& heads);
/// The heads that bytes_of() wrote. Throws InvalidArgument ("partitions") for other bytes.
std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes);

/// Passages that go through the model. Only `statistics` are known to the predictions.
struct PredictionPassages {
  std::vector<Passage> statistics;  ///< at least one; of a text, or random (random_tokens.h)
  std::vector<Passage> measured;    ///< compared with the predictions; may be empty
  std::vector<Passage> ceiling;     ///< others of the measured text, measured too; may be empty
  /// The statistics are of the measured text too: so their passages give the ceiling.
  bool same_text = false;
  /// Passages of another text, measured beside the first; may be empty.
  std::vector<Passage> transfer = {};
};

/// A part of a prediction: a job in steps.
class PredictionPart {
 public:
  virtual ~PredictionPart() = default;
  /// Does the next step and stores its results in `heads`, which are in the order of their layers; not when done().
  /// Throws FormatError as ForwardPass::advance does; the step is then still to be done.
  void step(std::vector<HeadPrediction>& heads) {
    do_step(heads);
    ++steps_;
  }
  Eigen::Index steps_done() const { return steps_; }
  virtual Eigen::Index steps_wanted() const = 0;
  /// About how many multiply-adds the next step costs.
  virtual double work_per_step() const = 0;
  bool done() const { return steps_done() == steps_wanted(); }

 private:
  virtual void do_step(std::vector<HeadPrediction>& heads) = 0;

  Eigen::Index steps_ = 0;
};

/// Multiply-adds of a passage of `length` tokens through a layer of so many features.
inline double passage_work(Eigen::Index length, Eigen::Index width) {
  const auto n = static_cast<double>(length), d = static_cast<double>(width);
  return n * d * (12 * d + 2 * n);
}

/// A prediction of the normalized row entropy fits when it is off by at most this.
inline constexpr double kVerdictTolerance = 0.05;

/// The first of the nested levels (isotropic to keys) such that it and all after it fit gives the
/// verdict, its LevelInfo::explains; `unexplained` where the last does not fit. The entropy to fit is
/// the measured one; without measured passages that of level sequences.
Verdict verdict(const HeadPrediction& head);

}  // namespace eigenscope
