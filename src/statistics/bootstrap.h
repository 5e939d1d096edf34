// The percentile bootstrap.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kResamples{"resamples", integers(1, 1000000), 2000,
                                      "bootstrap draws per interval"};

/// A number with its 95% bootstrap interval; NaN where it is not defined.
struct Interval {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// Resample number k of `count` >= 1 items: as many indices below `count`, independent and uniform,
/// from stream k of the seed.
std::vector<Eigen::Index> resample(Eigen::Index count, std::uint64_t seed, std::uint64_t k);

/// Resamples of many quantities of as many items each, drawn once for all of them. One thread at a time.
class Resamples {
 public:
  /// `number` of them from this seed. Throws InvalidArgument ("resamples") for none.
  Resamples(Eigen::Index number, std::uint64_t seed);

  /// Resamples 0, 1, ... of `count` >= 1 items, as resample() gives them; valid until another count.
  const std::vector<std::vector<Eigen::Index>>& of(Eigen::Index count) const;

 private:
  Eigen::Index number_;
  std::uint64_t seed_;
  mutable std::vector<std::vector<Eigen::Index>> drawn_;
};

/// `value` with the percentiles 2.5 and 97.5 of its resampled values, none of which is NaN; they are NaN
/// where `value` is or nothing was resampled.
Interval percentile_interval(double value, std::vector<double> resampled);

}  // namespace eigenscope
