// Sums over a row of attention, in the widest vectors that the processor has.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Logits and weights of a query at position `query`, by the `keys` keys that it sees.
template <class Scalar>
struct AttentionRow {
  const Scalar* logits;
  const Scalar* weights;
  Eigen::Index keys, query;
};

struct RowSums {
  double logits = 0, weights = 0;
  double entropy = 0;   ///< -p log p, nats
  double squares = 0;   ///< p^2
  double distance = 0;  ///< p_i |i - query|
};

/// The sums of a row of weights. The terms of the entropy are computed in the precision of the row, and added up in
/// double.
template <class Scalar>
RowSums sums_of(const AttentionRow<Scalar>& row);

}  // namespace eigenscope
