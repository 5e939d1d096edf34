// Predicted against measured attention, head by head and rung by rung.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "checkpoint/head_report.h"
#include "forward/forward_pass.h"
#include "ladder/agreement.h"
#include "ladder/rungs.h"

namespace eigenscope {

struct PredictionSettings {
  Eigen::Index queries = 512;  ///< sampled for each layer; parameter "queries"
  std::uint64_t seed = 1;
};

/// What a rung says of one head; NaN for what it says nothing of.
struct RungPrediction {
  double entropy = std::numeric_limits<double>::quiet_NaN();
  double participation = std::numeric_limits<double>::quiet_NaN();
  double sink = std::numeric_limits<double>::quiet_NaN();
};

struct HeadPrediction {
  int layer = 0, head = 0;
  HeadMeasures measured;
  HeadReport report;  ///< spectrum, and localization by the isotropic theory (kernel of rung 0)
  std::array<RungPrediction, kRungNames.size()> rungs;  ///< by Rung
};

/// Runs some passages for the statistics of the tokens and others for the measurement through a model,
/// layer by layer, and predicts the heads of a layer when both are through. A job that advances in
/// steps. Rung 0 is the theory for the normalized random walk of the passages' length, at temperature
/// sqrt(d_h), the gain of a pre-norm folded into the weights. Query j of a layer and the numbers drawn
/// for its row are stream j of the seed, for every head and rung alike.
class Prediction {
 public:
  /// All passages have one length, of at least four tokens that are not special, and the same special
  /// tokens. Throws InvalidArgument: "passages" when they differ or either list is empty, "queries",
  /// and as ForwardPass does.
  Prediction(std::shared_ptr<const TextModel> model, const std::vector<Passage>& statistics,
             const std::vector<Passage>& measured, const PredictionSettings& settings);

  /// Runs up to `steps` passages through a layer each; true when all is done. Throws FormatError as
  /// ForwardPass::advance does, and for weights too large for the theory.
  bool advance(Eigen::Index steps);
  Eigen::Index steps_done() const { return pass_.steps_done(); }
  Eigen::Index steps_wanted() const { return pass_.steps_wanted(); }
  /// About how many multiply-adds one step costs.
  double work_per_step() const;

  /// The heads of the layers that are through.
  const std::vector<HeadPrediction>& heads() const { return heads_; }

 private:
  void step();
  void begin_layer();
  void predict_layer(const LayerWeights& weights, int layer);
  HeadPrediction predict_head(const LayerWeights& weights, int layer, int head,
                              const LayerClouds& clouds) const;
  RungPrediction sampled(const HeadLadder& ladder, Rung rung) const;
  void add_isotropic(Eigen::Index first);

  ForwardPass pass_;
  PredictionSettings settings_;
  std::size_t statistics_passages_;
  Eigen::Index length_;
  SinkKeys sinks_;
  CentredKernel kernel_;
  TokenStatistics statistics_;
  std::vector<HeadMeter> meters_;
  std::vector<HeadPrediction> heads_;
};

}  // namespace eigenscope
