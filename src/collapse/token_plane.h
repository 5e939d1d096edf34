// The tokens of one sampled stack as points of a plane, layer by layer.
#pragma once

#include <Eigen/Core>
#include <iterator>
#include <vector>

#include "collapse/stack.h"

namespace eigenscope {

/// A layer of a stack of T tokens, projected to the plane of the first two principal axes of its tokens.
struct PlaneLayer {
  /// 2 x T: coordinates of the tokens minus their mean, scaled so that their root mean square distance from the
  /// origin is `residual`. NaN where a token is not finite or all are 0.
  Eigen::Matrix2Xd place;
  double residual = 0;  ///< ||X - mean_t(X) 1^T||_F / ||X||_F in [0, 1]: 0 is rank collapse
  double entropy =
      0;  ///< attention entropy over the log of the visible keys, mean over queries and
          ///< heads; NaN for the input
  Eigen::VectorXd
      key;  ///< T: position, from 1, of the key with the largest mean weight over the heads; 0 for none
  Eigen::VectorXd weight;  ///< T: that weight in [0, 1]; 0 for none
};

/// Coordinates of the tokens X, d x T, as PlaneLayer has them. Principal axes have no sign: without a `previous`
/// layer the largest coordinate along each axis is positive; else the coordinates are rotated or reflected so that
/// they are nearest to `previous` (2 x T) in the sum of squares.
Eigen::Matrix2Xd plane_of(const Eigen::MatrixXd& tokens,
                          const Eigen::Matrix2Xd* previous = nullptr);

/// The input and every layer of sample 0 of a stack, as a job that advances layer by layer.
class TokenPlane {
 public:
  /// Throws as StackRun.
  TokenPlane(const StackSettings& settings, const SpectrumPoint& point);

  /// Runs up to `layers` more layers; true when all are done.
  bool advance(Eigen::Index layers = 1);
  Eigen::Index steps_done() const { return std::ssize(layers_) - 1; }
  Eigen::Index steps_wanted() const { return run_.steps_wanted(); }
  /// The input, which has no attention, and the layers that were run. After tokens that overflow all numbers are NaN,
  /// keys and weights 0.
  const std::vector<PlaneLayer>& layers() const { return layers_; }

 private:
  void measure();

  StackRun run_;
  Mask mask_;
  std::vector<PlaneLayer> layers_;
};

}  // namespace eigenscope
