// Sums over a row of attention, in loops that a compiler can vectorise.
#pragma once

#include <Eigen/Core>

namespace eigenscope {

/// Logits and weights of a query at position `query`, by the `keys` keys that it sees.
struct AttentionRow {
  const double* logits;
  const double* weights;
  Eigen::Index keys, query;
};

struct RowSums {
  double logits = 0, weights = 0;
};
RowSums sums_of(const AttentionRow& row);

}  // namespace eigenscope
