// Predicted against measured attention, head by head and level by level.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "prediction/drawn_rows.h"
#include "prediction/head_prediction.h"

namespace eigenscope {

/// Two partitions of about the same work, for two workers: the levels that need the statistics, and the others (the
/// mean field and the measurements), each with half of the passages of the ceiling.
enum class PredictionPartition { levels, others, all };
inline constexpr int kPredictionPartitions = 2;

/// Predicts the heads of a model and measures them: a job that advances in steps. Level 0 is the theory for
/// the normalized random walk of as many tokens as a query sees, at temperature sqrt(d_h), the gain of a pre-norm
/// folded into the weights, rotary positions at offset 0. Query j of a layer and the numbers drawn for its
/// row are stream j of the seed, for every head and level alike.
class Prediction {
 public:
  /// All passages have one length, of at least four tokens that are not special, and the same number of
  /// special tokens. Throws InvalidArgument: "passages" when they differ or there are none for the
  /// statistics, "queries".
  Prediction(const std::shared_ptr<const Transformer>& model, const PredictionPassages& passages,
             const PredictionSettings& settings,
             PredictionPartition partition = PredictionPartition::all);

  /// Does up to `steps` steps; true when all is done. Throws FormatError as ForwardPass::advance does,
  /// and for weights too large for the theory.
  bool advance(Eigen::Index steps);
  bool done() const { return parts_.empty(); }
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const { return wanted_; }
  /// About how many multiply-adds the next step costs.
  double work_per_step() const;

  /// The heads that are predicted, in the order of their layers. Their measurements and their mean field follow once
  /// all are predicted. In the partition without levels: all heads.
  const std::vector<HeadPrediction>& heads() const { return heads_; }

 private:
  void add(std::unique_ptr<PredictionPart> part);

  std::deque<std::unique_ptr<PredictionPart>>
      parts_;                            // those still to be done: others hold no tokens
  Eigen::Index ended_ = 0, wanted_ = 0;  // steps of the parts that are done, and of all
  std::vector<HeadPrediction> heads_;
};

/// The heads of both partitions as one job would give them.
std::vector<HeadPrediction> joined(std::vector<HeadPrediction> levels,
                                   std::vector<HeadPrediction> others);

}  // namespace eigenscope
