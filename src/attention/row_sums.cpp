#include "attention/row_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/lanes.h"

namespace eigenscope {

using Eigen::Index;

RowSums sums_of(const AttentionRow& row) {
  RowSums sums;
  sums.logits = lane_sum<double>(row.keys, [&](Index i) { return row.logits[i]; });
  sums.weights = lane_sum<double>(row.keys, [&](Index i) { return row.weights[i]; });
  // Vectors have a conversion from integers of 32 bits only.
  const auto query = static_cast<std::int32_t>(row.query);
  sums.distance = lane_sum<double>(row.keys, [&](Index i) {
    return row.weights[i] * std::abs(static_cast<double>(static_cast<std::int32_t>(i) - query));
  });
  return sums;
}

void add_by_key(const AttentionRow& row, double mean, double* inside, double* sensitivity,
                double* seen) {
  const double upper = static_cast<double>(row.keys - 1);
  for (Index i = 0; i < row.keys; ++i) {
    const double centred = row.logits[i] - mean;
    inside[i] += static_cast<double>((centred > -1) & (centred < upper));
  }
  for (Index i = 0; i < row.keys; ++i) sensitivity[i] += row.weights[i] * (1 - row.weights[i]);
  for (Index i = 0; i < row.keys; ++i) seen[i] += 1;
}

void add_by_distance(const AttentionRow& row, Index begin, Index end, Index longest,
                     double* weights, double* counts) {
  const Index after = std::min(longest, end - 1 - row.query);
  for (Index d = std::max<Index>(1, begin - row.query); d <= after; ++d) {
    weights[d - 1] += row.weights[row.query + d];
    counts[d - 1] += 1;
  }
  const Index before = std::min(longest, row.query - begin);
  for (Index d = std::max<Index>(1, row.query - end + 1); d <= before; ++d) {
    weights[d - 1] += row.weights[row.query - d];
    counts[d - 1] += 1;
  }
}

}  // namespace eigenscope
