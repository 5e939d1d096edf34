// Rotary positions: a head's query-key matrix depends on how far the key lies before the query.
#pragma once

#include <Eigen/Core>

#include "nn/rotary.h"

namespace eigenscope {

/// The offset, query minus key position, at which W is evaluated.
struct RotaryOffset {
  double offset = 0;  ///< in tokens, from 0
  /// Above 0, the mean over the offsets 0 to `average` - 1 instead.
  Eigen::Index average = 0;

  /// Whether pairs are not turned, whatever their angles.
  bool is_none() const { return average <= 0 && offset == 0; }
};

/// Replaces W_Q (d x d_h) by W_Q R(D)^T, or its mean over offsets: W_Q W_K^T becomes W(D), by
/// which x_q^T W(D) x_k is the logit of a key D tokens before its query. The mean is of matrices:
/// pairs that turn fast nearly vanish from it. Nothing changes without rotary pairs. Float and double.
template <class Matrix>
void turn_queries(Matrix& query, const Rotary& rotary, const RotaryOffset& at);

}  // namespace eigenscope
