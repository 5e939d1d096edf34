#include "attention/row_sums.h"

#include "support/lanes.h"

namespace eigenscope {
namespace {

double sum(const double* values, Eigen::Index count) {
  return lane_sum<double>(count, [&](Eigen::Index i) { return values[i]; });
}

}  // namespace

RowSums sums_of(const AttentionRow& row) {
  return {sum(row.logits, row.keys), sum(row.weights, row.keys)};
}

}  // namespace eigenscope
