// Measured attention of a model's heads on the passages that predictions are compared with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/prediction_part.h"

namespace eigenscope {

/// The text that is measured: that with which predictions are compared, that of the ceiling, or another one.
enum class MeasuredText { compared, ceiling, transfer };

/// A step is about a passage through a layer.
class TextMeasurement final : public PredictionPart {
 public:
  /// `passages` must not be empty.
  TextMeasurement(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                  MeasuredText measured);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  /// A head on one passage, or on all of them.
  struct HeadOnText {
    HeadMeter meter;
    MeasuredLogits logits = {0, 0};  ///< of all passages the sum of the components
  };

  void do_step(std::vector<HeadPrediction>& heads) override;
  /// The next passages through the heads of a layer.
  void run_passages(std::vector<HeadPrediction>& heads);
  void enter(const HeadOnText& measured, HeadPrediction& head) const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  MeasuredText measured_;
  std::optional<ForwardPass> pass_;  // embeds the passages in the first step
  std::vector<HeadOnText> heads_;    // of a layer
};

}  // namespace eigenscope
