// The covariance Sigma of the token states that the heads of each layer read, measured on passages: for tr(W Sigma),
// tr((W Sigma)^2) and tr(W Sigma W^T Sigma) of trained heads.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/token_statistics.h"

namespace eigenscope {

/// A job that runs passages through a model and keeps d x d numbers a layer. Tokens that count as
/// attention sinks (SinkKeys) are left out: few as they are, their states would outweigh all others.
class LayerCovariance {
 public:
  /// `gain_in_weights` says where the gain of a norm before attention belongs: true for W with the
  /// gain folded in, as HeadScan gives it (Sigma is then that of the normalized states without gain);
  /// false for W without it. Throws as ForwardPass does; InvalidArgument ("passages") when no passage
  /// has two tokens that are not sinks; FormatError naming the family for a model whose layers use keys of earlier
  /// ones, whose tokens have another covariance.
  LayerCovariance(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                  bool gain_in_weights);

  /// Runs about `steps` passages through a layer; true when all are through. Throws as
  /// ForwardPass::advance does.
  bool advance(Eigen::Index steps);
  Eigen::Index steps_done() const { return pass_.steps_done(); }
  Eigen::Index steps_wanted() const { return pass_.steps_wanted(); }
  /// About how many multiply-adds the next step costs.
  double work_per_step() const;

  /// Sigma (d x d) of each layer that all passages are through, from layer 0, around the mean state,
  /// divided by the number of tokens; not rescaled. Null for a layer without heads.
  const std::vector<std::shared_ptr<const Eigen::MatrixXd>>& covariances() const {
    return covariances_;
  }

 private:
  /// The next passages through the heads of a layer.
  void run_passages();

  ForwardPass pass_;
  bool gain_in_weights_;  // whether the gain of a norm before attention is taken out of the states
  Moments moments_;       // of the present layer
  std::vector<std::shared_ptr<const Eigen::MatrixXd>> covariances_;
};

}  // namespace eigenscope
