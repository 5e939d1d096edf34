// The levels that are predicted from statistics of tokens that go through the model.
#pragma once

#include <memory>
#include <optional>

#include "prediction/drawn_rows.h"
#include "prediction/prediction_part.h"
#include "propagation/propagation.h"

namespace eigenscope {

/// Runs the passages of the statistics through a model, layer by layer, and predicts the heads of a layer
/// once all have been read by them: all levels but the mean field, and the ceiling where the statistics are
/// of the measured text. A step is a passage through the heads of a layer, the prediction of a head, or a
/// passage through the rest of the layer.
class StatisticsLevels final : public PredictionPart {
 public:
  /// Throws as DrawnRows does.
  StatisticsLevels(std::shared_ptr<const TextModel> model, const PredictionPassages& passages,
                   const PredictionSettings& settings);

  void step(std::vector<HeadPrediction>& heads) override;
  Eigen::Index steps_done() const override { return steps_; }
  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void read_passage();
  HeadPrediction predict_head(int head) const;
  /// Measures of the queries' rows at each of levels 1 to 7, added to `prediction`.
  void predict_normal(const HeadPredictor& predictor, const std::vector<HeadQuery>& queries,
                      HeadPrediction& prediction) const;
  HeadMeasures isotropic(const Traces& traces) const;
  void finish_passage();
  bool is_last() const { return layer_ + 1 == model_->layers(); }

  std::shared_ptr<const TextModel> model_;
  std::vector<Passage> passages_;
  bool same_text_;
  DrawnRows rows_;
  CentredKernel kernel_;
  States tokens_;                      // that enter the layer, by passage
  std::vector<Eigen::MatrixXf> read_;  // of them by the layer's heads
  LayerWeights weights_;
  std::optional<TokenStatistics> statistics_;
  std::optional<LayerClouds> clouds_;  // once all passages are in the statistics
  LayerMeters sequences_;
  int layer_ = 0;
  std::size_t passage_ = 0;  // next to be read, or to be finished
  int head_ = 0;             // next to be predicted
  Eigen::Index steps_ = 0;
};

}  // namespace eigenscope
