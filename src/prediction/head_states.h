// The tokens of all passages in the coordinates of one head.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "inference/layer.h"

namespace eigenscope {

/// By passage, d_h x T each, before rotary positions turn them. The product of a query and a key is their
/// logit, but for rotary positions.
struct HeadStates {
  std::vector<Eigen::MatrixXd> queries;  ///< over sqrt(d_h)
  std::vector<Eigen::MatrixXd> keys, values;

  /// One passage more.
  void add(const HeadTokens& tokens);
};

}  // namespace eigenscope
