// What the heads of a model do on the passages that predictions are compared with.
#pragma once

#include <memory>
#include <optional>

#include "inference/forward_pass.h"
#include "prediction/prediction_part.h"

namespace eigenscope {

/// A step is a passage through a layer.
class TextMeasurement final : public PredictionPart {
 public:
  /// There must be passages to measure.
  TextMeasurement(std::shared_ptr<const TextModel> model, const PredictionPassages& passages);

  void step(std::vector<HeadPrediction>& heads) override;
  Eigen::Index steps_done() const override { return pass_ ? pass_->steps_done() : 0; }
  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void enter(std::vector<HeadPrediction>& heads, int layer) const;

  std::shared_ptr<const TextModel> model_;
  std::vector<Passage> passages_;  // to measure, then those of the ceiling
  std::size_t measured_count_;
  std::optional<ForwardPass> pass_;  // embeds the passages in the first step
  LayerMeters measured_, ceiling_;
};

}  // namespace eigenscope
