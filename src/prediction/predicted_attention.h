// The attention that a predictor level expects of heads, as matrices that can replace their weights.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "inference/forward_pass.h"
#include "inference/head_ablation.h"
#include "prediction/levels.h"
#include "prediction/token_statistics.h"

namespace eigenscope {

/// Expected attention weights of heads at one of levels 1 to 7: each row is the mean of the softmax of `kDraws` drawn
/// rows of logits of the level's law for that query. The statistics of the tokens are those of the passages themselves,
/// and queries are those of the trained model. A job that advances in steps.
class PredictedAttention {
 public:
  static constexpr int kDraws = 64;

  /// Passages have one length. Row i of passage p draws from stream p T + i of `seed`. Throws InvalidArgument
  /// ("ablation_level") for another level, ("ablation") for passages of several lengths and for matrices of more than
  /// 1 GiB together; otherwise as ForwardPass does. The model has the heads.
  PredictedAttention(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                     Level level, std::vector<HeadPlace> heads, std::uint64_t seed);

  /// Does about `work` multiply-adds more; true when all is done. Throws as ForwardPass::advance does.
  bool advance(double work);
  bool done() const { return predicted_ == heads_.size(); }
  Eigen::Index steps_done() const {
    return pass_.steps_done() + static_cast<Eigen::Index>(predicted_);
  }
  Eigen::Index steps_wanted() const;
  /// The matrix of one of the heads (T x T, row = key, column = query), once done().
  const Eigen::MatrixXf& weights(std::size_t passage, const HeadPlace& head) const;

 private:
  double predict(std::size_t head);

  Level level_;
  std::vector<HeadPlace> heads_;  // by layer
  std::uint64_t seed_;
  ForwardPass pass_;
  std::size_t predicted_ = 0;                          // heads whose matrices are known
  std::vector<Eigen::MatrixXf> states_;                // of the layer, by passage
  LayerWeights layer_weights_;                         // of the layer of the last head
  Eigen::VectorXd correlations_;                       // of its states
  std::vector<std::vector<Eigen::MatrixXf>> weights_;  // by head and passage
};

}  // namespace eigenscope
