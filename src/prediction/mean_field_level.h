// The level that runs no sequence: rows over the states of mean-field attention.
#pragma once

#include <memory>
#include <optional>

#include "prediction/drawn_rows.h"
#include "prediction/mean_field.h"
#include "prediction/prediction_part.h"

namespace eigenscope {

/// A step is a head's rows and what its tokens read, or the population through a share of the rest of a layer, one
/// for each passage.
class MeanFieldLevel final : public PredictionPart {
 public:
  /// Throws as DrawnRows does.
  MeanFieldLevel(std::shared_ptr<const Transformer> model, const PredictionPassages& passages,
                 const PredictionSettings& settings);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void do_step(std::vector<HeadPrediction>& heads) override;
  void do_head(std::vector<HeadPrediction>& heads);

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  DrawnRows rows_;
  std::optional<MeanField> population_;  // embedded in the first step
  LayerWeights weights_;
  States states_;
};

}  // namespace eigenscope
