// Symmetry and directionality of each layer's query-key matrix, its heads together.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "checkpoint/heads.h"

namespace eigenscope {

/// Scores of Saponati et al. (arXiv:2502.10927) of W_Q W_K^T over all heads of a layer, which is the sum of its heads'
/// matrices; grouped keys are repeated for their queries.
struct LayerScore {
  std::string stack;
  int layer = 0;
  int heads = 0;              ///< that were added: all without those that are not finite
  double symmetry = 0;        ///< (||W + W^T||_F^2 - ||W - W^T||_F^2) / (4 ||W||_F^2), in [-1, 1]
  double directionality = 0;  ///< see directionality()
};

/// Sums the heads of one layer after another in a d x d matrix, O(d^2 d_h) each.
class LayerScores {
 public:
  /// Heads come layer by layer, as HeadScan yields them.
  void add(const ScannedHead& head);
  /// Those of all layers, the last one included.
  std::vector<LayerScore> result() const;

 private:
  std::vector<LayerScore> scores_;  // the last one has no scores yet
  Eigen::MatrixXd sum_;             // of the last one
};

}  // namespace eigenscope
