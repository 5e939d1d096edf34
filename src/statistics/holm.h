// Correction of p values for the number of tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/argsort.h"

namespace eigenscope {

/// p values corrected by Holm's method (1979), in their order: the k-th smallest of n times n - k + 1, at least that of
/// the one before and at most 1. NaN stands for no test and stays.
inline std::vector<double> holm(const std::vector<double>& p) {
  std::vector<double> known, corrected = p;
  for (const double value : p) {
    if (!std::isnan(value)) known.push_back(value);
  }
  const std::vector<std::size_t> order = argsort(known);
  double last = 0;
  std::vector<double> adjusted(known.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto left = static_cast<double>(order.size() - k);
    last = std::min(1.0, std::max(last, left * known[order[k]]));
    adjusted[order[k]] = last;
  }
  std::size_t at = 0;
  for (double& value : corrected) {
    if (!std::isnan(value)) value = adjusted[at++];
  }
  return corrected;
}

}  // namespace eigenscope
