// Decomposition of the variance of a head's logits into content, position, query bias and first token.
#pragma once

#include <array>

#include "training/model.h"

namespace eigenscope {

/// Statistics over the rows of the last batch, without the first row of each sequence (which has one key).
struct LogitStatistics {
  /// Mean over rows of the variance of the logits (after 1/sqrt(d_h)) over the keys up to the query.
  double variance = 0;
  /// The parts of `variance`, which add up to it exactly, in the order of kRunHeadMeasures: content of the query with
  /// content of the key; content with position, either way; position with position; the query bias with
  /// content and position; anything with the first token. A token x at position t is content + position, position being
  /// the mean over the batch at t; the first token as a key is the mean of the other positions and a
  /// rest, the sink. The logit is linear in the parts of query and key, and a part's share is its
  /// covariance with the whole logit over the keys: it may be negative. Key biases, which shift a whole
  /// row without rotary positions, go with the key's position.
  std::array<double, 5> parts{};
  /// Mean over rows of the logit of a token with itself minus that with the keys before it.
  double self_excess = 0;
};

/// The statistics of every head of `layer`, from 0, over the last batch of the model. The batch has sequences of at
/// least two tokens.
template <class Scalar>
std::vector<LogitStatistics> logit_statistics(const Model<Scalar>& model, Eigen::Index layer);

}  // namespace eigenscope
