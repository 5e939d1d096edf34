// One sampled stack, layer by layer.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "collapse/stack.h"

namespace eigenscope {

/// The tokens of sample 0 of a stack at one mean and variance of the eigenspectrum: those of Collapse.
class StackRun {
 public:
  /// `layers` are run, 0 for the input alone. Throws InvalidArgument as check_stack and Ensemble::weights do, and
  /// ("layer") above the depth.
  StackRun(const StackSettings& settings, const SpectrumPoint& point, Eigen::Index layers);

  /// Runs up to `layers` more layers; true when all are done.
  bool advance(Eigen::Index layers = 1);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const { return wanted_; }
  /// The output of the last layer that was run, d x T.
  const Eigen::MatrixXd& tokens() const { return trace_.tokens; }
  /// The attention of that layer, T x T a head, column = query; no head before the first layer.
  const std::vector<Eigen::MatrixXd>& attention() const { return trace_.attention; }

 private:
  StackSettings settings_;
  Eigen::Index wanted_, done_ = 0;
  StackDraw draw_;
  EnsembleWeights spectrum_;
  LayerTrace trace_;
};

}  // namespace eigenscope
