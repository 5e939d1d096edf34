// Predictions and measurements of a head.
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

namespace eigenscope {

/// Predictions of the isotropic theory for a head, which need no eigenvalues.
struct HeadTheory {
  SpectralMoments moments;  ///< of W, the gain of a pre-norm folded in
  double localization = 0;  ///< for the kernel of level 0, temperature sqrt(d_h); may be NaN
};

struct HeadPrediction {
  /// A head of which nothing is known: all measures are NaN.
  explicit HeadPrediction(int layer = 0, int head = 0);

  int layer, head;
  HeadMeasures measured, ceiling;  ///< all NaN without passages, and before they are measured
  HeadMeasures transfer;           ///< likewise; on the passages of another text
  MeasuredLogits measured_logits;  ///< of the measured passages
  HeadMeter ceiling_rows;          ///< those that `ceiling` is of, but for the statistics' own
  HeadTheory report;
  std::array<HeadInMetric, kMetricNames.size()> metrics;  ///< by Metric
  std::array<HeadMeasures, kLevels.size()> levels;  ///< by Level; NaN for what a level does not say
  /// Mean weights by distance, as HeadMeter::by_distance: measured, empty without passages, and those of the
  /// Gaussian model that knows most, level neighbours.
  Eigen::VectorXd measured_by_distance, gaussian_by_distance;

  HeadInMetric& in(Metric metric) { return metrics[static_cast<std::size_t>(metric)]; }
  HeadMeasures& at(Level level) { return levels[static_cast<std::size_t>(level)]; }
  /// Measures of the ceiling are then of these rows too.
  void add_ceiling(const HeadMeter& rows);
};

/// The heads as bytes, for another process of the same build.
std::vector<std::byte> bytes_of(const std::vector<HeadPrediction>& heads);
/// The heads again. Throws InvalidArgument ("partitions") for other bytes.
std::vector<HeadPrediction> heads_of(std::span<const std::byte> bytes);

}  // namespace eigenscope
