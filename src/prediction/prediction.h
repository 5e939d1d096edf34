// Predicted against measured attention, head by head and level by level.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/agreement.h"
#include "prediction/levels.h"
#include "prediction/mean_field.h"
#include "propagation/propagation.h"
#include "spectrum/traces.h"

namespace eigenscope {

struct PredictionSettings {
  Eigen::Index queries = 512;  ///< sampled for each layer; parameter "queries"
  std::uint64_t seed = 1;
};

/// What goes through the model. Only `statistics` are known to the predictions.
struct PredictionPassages {
  std::vector<Passage> statistics;  ///< at least one; of a text, or random (random_tokens.h)
  std::vector<Passage> measured;    ///< what the predictions are compared with; may be empty
  std::vector<Passage> ceiling;     ///< others of the measured text, measured too; may be empty
  /// The statistics are of the measured text too: so their passages give the ceiling.
  bool same_text = false;
};

/// What the isotropic theory says of a head: no eigenvalues are needed for it.
struct HeadTheory {
  SpectralMoments moments;  ///< of W, the gain of a pre-norm folded in
  double localization = 0;  ///< for the kernel of level 0, temperature sqrt(d_h); may be NaN
};

struct HeadPrediction {
  int layer = 0, head = 0;
  HeadMeasures measured, ceiling;  ///< all NaN without passages, and before they are measured
  HeadTheory report;
  std::array<HeadMeasures, kLevels.size()> levels;  ///< by Level; NaN for what a level does not say
  /// Mean weights by distance, as HeadMeter::by_distance: measured, empty without passages, and those of the
  /// Gaussian model that knows most, level neighbours.
  Eigen::VectorXd measured_by_distance, gaussian_by_distance;
};

/// Runs the passages of the statistics through a model, layer by layer, and predicts the heads of a layer when
/// all are through; then runs the others and measures. A job that advances in steps, each a passage through a
/// layer, a layer of the mean field, or the prediction of a head. Level 0 is the theory for the normalized random walk of the passages'
/// length, at temperature sqrt(d_h), the gain of a pre-norm folded into the weights, rotary positions at
/// offset 0. Query j of a layer
/// and the numbers drawn for its row are stream j of the seed, for every head and level alike.
class Prediction {
 public:
  /// All passages have one length, of at least four tokens that are not special, and the same number of
  /// special tokens. Throws InvalidArgument: "passages" when they differ or there are none for the
  /// statistics, "queries", and as ForwardPass does.
  Prediction(std::shared_ptr<const TextModel> model, const PredictionPassages& passages,
             const PredictionSettings& settings);

  /// Does up to `steps` steps; true when all is done. Throws FormatError as ForwardPass::advance does,
  /// and for weights too large for the theory.
  bool advance(Eigen::Index steps);
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;
  /// About how many multiply-adds the next step costs.
  double work_per_step() const;

  /// The heads that are predicted, in the order of their layers. They are measured when all are predicted.
  const std::vector<HeadPrediction>& heads() const { return heads_; }

 private:
  /// States of a layer, d x T for each passage.
  using States = std::vector<Eigen::MatrixXf>;
  /// A layer that all passages are through.
  struct Through {
    LayerWeights weights;
    int layer;
    TokenStatistics statistics;
    LayerClouds clouds;
    std::optional<States> mean_field;  // until its turn has come
  };
  bool done() const;
  void run_passage();
  void measure_passage();
  /// Adds what the heads of a layer did on a passage.
  void add(const AttentionTrace& trace, std::vector<HeadMeter>& meters) const;
  /// One meter for each head of a layer.
  void reset(std::vector<HeadMeter>& meters) const;
  void run_mean_field();
  void begin_layer();
  void predict_next();
  HeadProjections projections(const LayerWeights& weights, int head) const;
  HeadPrediction predict_head(const Through& through, int head) const;
  /// Place for the N(0, 1) numbers of a query: one for each key, and one that draws the query itself.
  std::vector<float> normals() const;
  /// Those of query number `query`.
  void draw(Eigen::Index query, std::vector<float>& normal) const;
  /// The drawn queries of a head; all levels have the same.
  std::vector<HeadQuery> queries(const States& states, const HeadProjections& head) const;
  /// Calls draw_row(j, N(0, 1) numbers of the keys that it sees) for each query j that sees at least two.
  template <class Draw>
  void each_row(const std::vector<HeadQuery>& queries, const Draw& draw_row) const;
  /// Measures of the queries' rows at each of levels 1 to 7, added to `prediction`.
  void predict_normal(const HeadPredictor& predictor, const std::vector<HeadQuery>& queries,
                      HeadPrediction& prediction) const;
  /// The same of level 8 over these states.
  HeadMeasures predict_real(const States& states, const HeadProjections& head) const;
  HeadMeasures isotropic(const Traces& traces) const;

  ForwardPass pass_;                        // of the statistics
  std::unique_ptr<ForwardPass> measuring_;  // of the others, where there are any
  MeanField mean_field_;
  PredictionSettings settings_;
  std::size_t measured_passages_;
  bool same_text_;
  Eigen::Index length_;
  SinkKeys sinks_;
  std::vector<Eigen::Index> places_;  // of the drawn queries: passage T + position
  CentredKernel kernel_;
  RotaryTurns turns_;
  TokenStatistics statistics_;
  std::vector<HeadMeter> sequences_, measured_, ceiling_;  // by head of the layer
  std::optional<Through> through_;                         // until its heads are predicted
  std::vector<HeadPrediction> heads_;
};

}  // namespace eigenscope
