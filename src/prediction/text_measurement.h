// What the heads of a model do on the passages that predictions are compared with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/prediction_part.h"

namespace eigenscope {

/// The text that is measured: that with which predictions are compared, that of the ceiling, or another one.
enum class MeasuredText { compared, ceiling, transfer };

/// A step is a passage through a layer.
class TextMeasurement final : public PredictionPart {
 public:
  /// `passages` must not be empty.
  TextMeasurement(std::shared_ptr<const TextModel> model, std::vector<Passage> passages,
                  MeasuredText measured);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void do_step(std::vector<HeadPrediction>& heads) override;
  /// Adds the components of the next passage's logits.
  void add_components();

  std::shared_ptr<const TextModel> model_;
  std::vector<Passage> passages_;
  MeasuredText measured_;
  std::optional<ForwardPass> pass_;     // embeds the passages in the first step
  std::vector<HeadMeter> meters_;       // of the heads of a layer
  std::vector<MeasuredLogits> logits_;  // likewise; sums of components
};

}  // namespace eigenscope
