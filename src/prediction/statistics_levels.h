// The levels that are predicted from statistics of tokens that go through the model.
#pragma once

#include <memory>

#include "inference/layer_pass.h"
#include "prediction/drawn_rows.h"
#include "prediction/head_prediction.h"
#include "propagation/propagation.h"

namespace eigenscope {

/// Runs the passages of the statistics through a model, layer by layer, and predicts the heads of a layer
/// once all have entered it: all levels but the mean field, and the ceiling where the statistics are of the
/// measured text. A step is the entry of a passage, a head with all passages, or a passage through the rest
/// of the layer. So the first head needs no others.
class StatisticsLevels final : public PredictionPart {
 public:
  /// Throws as DrawnRows does.
  StatisticsLevels(std::shared_ptr<const Transformer> model, const PredictionPassages& passages,
                   const PredictionSettings& settings);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void do_step(std::vector<HeadPrediction>& heads) override;
  void enter_passage();
  /// Tokens of the walk of level 0: as many as a query of the layer sees.
  Eigen::Index walk_length() const { return rows_.rules().most_seen(rows_.length()); }
  /// Runs the next head on the passages, adds its queries, keys and values to `states`, and measures its attention.
  HeadMeasures run_passages(HeadStates& states);
  HeadPrediction predict_head(const HeadStates& states, const HeadMeasures& sequences) const;
  /// Measures of the queries' rows at each of levels 1 to 7, added to `prediction`.
  void predict_normal(const HeadPredictor& predictor, const std::vector<HeadQuery>& queries,
                      HeadPrediction& prediction) const;
  HeadMeasures isotropic(const Traces& traces) const;
  int head() const { return static_cast<int>(pass_.unit()); }
  /// Whether the layer makes its keys of the tokens that its queries are made of, not of those of an earlier layer.
  bool computes_keys() const { return model_->key_layer(pass_.layer()) == pass_.layer(); }

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  bool same_text_;
  DrawnRows rows_;
  CentredKernel kernel_;  // of the walk of level 0
  LayerPass pass_;        // its units are heads
  LayerWeights weights_;  // of the layer's heads
  States
      states_;  // what queries and keys are computed from, of the passages that entered the layer
  Eigen::VectorXd correlations_;  // of the states of all passages
};

}  // namespace eigenscope
