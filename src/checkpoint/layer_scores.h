// Symmetry and directionality of each layer's query-key matrix, its heads together.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/heads.h"
#include "support/in_order.h"

namespace eigenscope {

/// Scores of Saponati et al. (arXiv:2502.10927) of W_Q W_K^T over all heads of a layer, which is the sum of its heads'
/// matrices; grouped keys are repeated for their queries.
struct LayerScore {
  std::string stack;
  int layer = 0;
  int heads = 0;              ///< heads that were added; those that are not finite are left out
  double symmetry = 0;        ///< (||W + W^T||_F^2 - ||W - W^T||_F^2) / (4 ||W||_F^2), in [-1, 1]
  double directionality = 0;  ///< see directionality()
};

/// Forms the d x d matrix of a layer tile by tile, O(d^2 d_h) for each key head, and keeps sums of squares alone.
/// Products are in the precision of the heads.
class LayerScores {
 public:
  /// The factors of a layer's heads: W is the sum of query key^T over them.
  struct Layer {
    LayerScore score;
    /// Queries that share their keys are added up, and several heads lie side by side.
    std::vector<ScannedHead> heads;
    std::size_t joined = 0;  ///< entries of `heads` before this index are complete
    Eigen::VectorXd row_squares, column_squares;
    double crossed = 0;  ///< sum of W_ij W_ji
  };

  /// Heads come layer by layer, as HeadScan yields them.
  void add(ScannedHead head);
  /// No head follows.
  void finish();
  /// Whether tiles of complete layers wait.
  bool has_tiles() const { return tile_ < tiles_.size(); }
  /// Computes the next tile, beside others where there are processors; returns its multiply-adds.
  double score_tile();
  /// The scores of all layers, after finish() and without waiting tiles.
  const std::vector<LayerScore>& scores() const { return scores_; }

 private:
  /// Rows and columns `row` x `column` of W in units of tiles, and its mirror image.
  struct Tile {
    std::shared_ptr<Layer> layer;
    Eigen::Index row, column;
  };
  struct TileSums {
    Tile of;
    Eigen::VectorXd row_squares, column_squares;  ///< of all of W's rows
    double crossed = 0;
  };

  static TileSums sums_of(const Tile& tile);
  /// Puts the last heads of the layer side by side.
  void join();
  void end_layer();
  void take_sums();

  std::shared_ptr<Layer> layer_;  // of the heads that are being added; null before the first
  std::vector<Tile> tiles_;
  std::size_t tile_ = 0;  // the next one
  std::vector<LayerScore> scores_;
  InOrder<TileSums> running_;  // last: its tasks use the layers
};

}  // namespace eigenscope
