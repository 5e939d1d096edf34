// The levels that are predicted from statistics of tokens that go through the model.
#pragma once

#include <memory>
#include <optional>

#include "inference/layer_rest.h"
#include "prediction/drawn_rows.h"
#include "prediction/prediction_part.h"
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
  /// What head number head_ does on the passages, whose tokens are added to `own`; they are read by it.
  HeadMeasures run_passages(HeadStates& own);
  HeadPrediction predict_head(const HeadStates& own, const HeadMeasures& sequences) const;
  /// Measures of the queries' rows at each of levels 1 to 7, added to `prediction`.
  void predict_normal(const HeadPredictor& predictor, const std::vector<HeadQuery>& queries,
                      HeadPrediction& prediction) const;
  HeadMeasures isotropic(const Traces& traces) const;
  void finish_passage();

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  bool same_text_;
  DrawnRows rows_;
  CentredKernel kernel_;                         // of the walk of level 0
  States tokens_;                                // that enter the layer, by passage
  std::vector<Eigen::MatrixXf> read_;            // of them by the layer's heads
  LayerWeights weights_;                         // of its heads
  LayerRest rest_;                               // through which its passages are finished
  States states_;                                // the same as queries and keys are made of
  std::optional<Eigen::VectorXd> correlations_;  // of the states, once all passages have entered
  int layer_ = 0;
  std::size_t passage_ = 0;  // next to enter, or to be finished
  int head_ = 0;             // next to be predicted
};

}  // namespace eigenscope
