#include "statistics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::vector<Index> all_of(Index count) {
  std::vector<Index> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

// The place of each value among the different ones, from 0.
std::vector<std::size_t> places(const VectorXd& values) {
  std::vector<Index> order = all_of(values.size());
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
  std::vector<std::size_t> places(order.size());
  std::size_t place = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && values[order[k]] != values[order[k - 1]]) ++place;
    places[static_cast<std::size_t>(order[k])] = place;
  }
  return places;
}

// By place: the rank of a drawn value minus the mean rank. Multiples of 1/2: all sums of products are exact.
std::unique_ptr<double[]> centred_ranks(const std::vector<std::size_t>& places,
                                        const std::vector<Index>& drawn) {
  auto ranks = std::make_unique<double[]>(places.size());  // first how often it is drawn
  for (const Index i : drawn) ranks[places[static_cast<std::size_t>(i)]] += 1;
  double before = 0;
  const double mean = 0.5 * static_cast<double>(drawn.size() + 1);
  for (std::size_t place = 0; place < places.size(); ++place) {
    const double count = ranks[place];
    ranks[place] = before + 0.5 * (count + 1) - mean;
    before += count;
  }
  return ranks;
}

}  // namespace

RankedPairs::RankedPairs(const VectorXd& a, const VectorXd& b) : a_(places(a)), b_(places(b)) {}

double RankedPairs::correlation(const std::vector<Index>& drawn) const {
  if (drawn.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto ranks_a = centred_ranks(a_, drawn), ranks_b = centred_ranks(b_, drawn);
  double xy = 0, xx = 0, yy = 0;
  for (const Index i : drawn) {
    const double x = ranks_a[a_[static_cast<std::size_t>(i)]];
    const double y = ranks_b[b_[static_cast<std::size_t>(i)]];
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xy / std::sqrt(xx * yy);  // 0/0 is NaN
}

double rank_correlation(const VectorXd& a, const VectorXd& b) {
  return RankedPairs(a, b).correlation(all_of(a.size()));
}

}  // namespace eigenscope
