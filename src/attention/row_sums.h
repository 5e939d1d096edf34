// Sums over one row of attention, of which the measures of a head are made: plain loops that a compiler can
// vectorise. They take most of the time of what measures many rows.
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
  double distance = 0;  ///< sum_i p_i |i - query|
};
RowSums sums_of(const AttentionRow& row);

/// Adds to sums by key: 1 to `inside` where the key lies strictly inside the range of the piecewise linear softmax,
/// -1 < omega_i - mean < n - 1; p (1 - p) to `sensitivity`; 1 to `seen`.
void add_by_key(const AttentionRow& row, double mean, double* inside, double* sensitivity,
                double* seen);

/// Adds the weights of the keys `begin` to `end` - 1 at distance D = 1 ... `longest` from the query to `weights`[D - 1], and
/// their number to `counts`[D - 1].
void add_by_distance(const AttentionRow& row, Eigen::Index begin, Eigen::Index end,
                     Eigen::Index longest, double* weights, double* counts);

}  // namespace eigenscope
