// A share of trials with its interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace eigenscope {

/// A share of n trials with its 95% interval (Wilson, 1927); NaN for no trial.
struct Share {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = value, high = value;
};

inline Share share_of(double count, double trials) {
  if (!(trials > 0)) return {};
  constexpr double kZ = 1.959963984540054;
  const double share = count / trials, square = kZ * kZ / trials;
  const double centre = (share + square / 2) / (1 + square);
  const double half =
      kZ / (1 + square) * std::sqrt(share * (1 - share) / trials + square / (4 * trials));
  return {share, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace eigenscope
