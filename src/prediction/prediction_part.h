// Parts of the prediction of a model's heads that need nothing of each other.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "prediction/head_prediction.h"
#include "text/passages.h"

namespace eigenscope {

/// Passages that go through the model. Only `statistics` are known to the predictions.
struct PredictionPassages {
  std::vector<Passage> statistics;  ///< at least one; of a text, or random (random_tokens.h)
  std::vector<Passage> measured;    ///< what the predictions are compared with; may be empty
  std::vector<Passage> ceiling;     ///< others of the measured text, measured too; may be empty
  /// The statistics are of the measured text too: so their passages give the ceiling.
  bool same_text = false;
  /// Passages of another text, measured beside the first; may be empty.
  std::vector<Passage> transfer = {};
};

/// A job in steps.
class PredictionPart {
 public:
  virtual ~PredictionPart() = default;
  /// Does the next step and enters what it has found of `heads`, in the order of their layers; not when
  /// done(). Throws FormatError as ForwardPass::advance does; the step is then still to be done.
  void step(std::vector<HeadPrediction>& heads) {
    do_step(heads);
    ++steps_;
  }
  Eigen::Index steps_done() const { return steps_; }
  virtual Eigen::Index steps_wanted() const = 0;
  /// About how many multiply-adds the next step costs.
  virtual double work_per_step() const = 0;
  bool done() const { return steps_done() == steps_wanted(); }

 private:
  virtual void do_step(std::vector<HeadPrediction>& heads) = 0;

  Eigen::Index steps_ = 0;
};

/// Multiply-adds of a passage of `length` tokens through a layer of so many features.
inline double passage_work(Eigen::Index length, Eigen::Index width) {
  const auto n = static_cast<double>(length), d = static_cast<double>(width);
  return n * d * (12 * d + 2 * n);
}

}  // namespace eigenscope
