#include "statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "support/argsort.h"
#include "support/parameter.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;

/// The percentile of sorted values by linear interpolation.
double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

std::vector<Index> resample(Index count, std::uint64_t seed, std::uint64_t k) {
  std::vector<float> normal(static_cast<std::size_t>(count));
  NormalStream(seed, k).fill(normal);
  std::vector<Index> indices;
  for (const float z : normal) indices.push_back(uniform_index(z, count));
  return indices;
}

Resamples::Resamples(Index number, std::uint64_t seed) : number_(number), seed_(seed) {
  checked(kResamples, static_cast<double>(number));
}

const std::vector<std::vector<Index>>& Resamples::of(Index count) const {
  if (!drawn_.empty() && std::ssize(drawn_.front()) == count) return drawn_;
  drawn_.clear();
  for (Index k = 0; k < number_; ++k) {
    drawn_.push_back(resample(count, seed_, static_cast<std::uint64_t>(k)));
  }
  return drawn_;
}

Interval percentile_interval(double value, std::vector<double> resampled) {
  Interval interval{value};
  if (std::isnan(value) || resampled.empty()) return interval;
  sort_up(resampled);
  interval.low = percentile(resampled, 0.025);
  interval.high = percentile(resampled, 0.975);
  return interval;
}

}  // namespace eigenscope
