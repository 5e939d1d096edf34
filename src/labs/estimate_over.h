// The mean of what several data sets or training runs give, with its standard error.
#pragma once

#include <cstddef>

#include "statistics/estimate.h"

namespace eigenscope {

/// Mean of value(0) ... value(count - 1); NaN for none, its error for one.
template <class Value>
Estimate estimate_over(std::size_t count, const Value& value) {
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double one = value(i);
    sum += one;
    square += one * one;
  }
  if (count == 0) return {};
  return mean_estimate(sum, square, static_cast<double>(count));
}

}  // namespace eigenscope
