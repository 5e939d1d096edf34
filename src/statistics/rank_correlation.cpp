#include "statistics/rank_correlation.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/argsort.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The place of each value among the different ones, from 0.
std::vector<Index> places(const VectorXd& values) {
  const std::span<const double> each(values.data(), static_cast<std::size_t>(values.size()));
  const std::vector<std::size_t> order = argsort(each);
  std::vector<Index> places(order.size());
  Index place = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && each[order[k]] != each[order[k - 1]]) ++place;
    places[order[k]] = place;
  }
  return places;
}

// Sets `ranks` to the rank of a drawn value at each place minus the mean rank: multiples of 1/2, whose products add up
// exactly.
void rank(const std::vector<Index>& places, const std::vector<Index>& drawn,
          std::vector<double>& ranks) {
  ranks.assign(places.size(), 0);  // first how often it is drawn
  const Index *const place = places.data(), *const end = drawn.data() + drawn.size();
  double* const out = ranks.data();
  for (const Index* i = drawn.data(); i < end; ++i) out[place[*i]] += 1;
  double before = 0;
  const double mean = 0.5 * static_cast<double>(drawn.size() + 1);
  const auto count = static_cast<Index>(ranks.size());
  for (Index k = 0; k < count; ++k) {
    const double times = out[k];
    out[k] = before + 0.5 * (times + 1) - mean;
    before += times;
  }
}

}  // namespace

RankedPairs::RankedPairs(const VectorXd& a, const VectorXd& b) : a_(places(a)), b_(places(b)) {}

double RankedPairs::correlation(const std::vector<Index>& drawn) const {
  if (drawn.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  thread_local std::vector<double> ranks_a, ranks_b;
  rank(a_, drawn, ranks_a);
  rank(b_, drawn, ranks_b);
  const Index *const place_a = a_.data(), *const place_b = b_.data();
  const double *const by_a = ranks_a.data(), *const by_b = ranks_b.data();
  double xy = 0, xx = 0, yy = 0;
  const Index* const end = drawn.data() + drawn.size();
  for (const Index* i = drawn.data(); i < end; ++i) {
    const double x = by_a[place_a[*i]], y = by_b[place_b[*i]];
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xy / std::sqrt(xx * yy);  // 0/0 is NaN
}

double rank_correlation(const VectorXd& a, const VectorXd& b) {
  return RankedPairs(a, b).correlation(in_order(a.size()));
}

double partial_correlation(double ab, double ac, double bc) {
  return (ab - ac * bc) / std::sqrt((1 - ac * ac) * (1 - bc * bc));
}

double copula_information(double rank_correlation) {
  const double r = 2 * std::sin(std::numbers::pi * rank_correlation / 6);
  return -std::log1p(-r * r) / (2 * std::numbers::ln2);
}

VectorXd centred_ranks(const VectorXd& values) {
  const std::vector<Index> place = places(values);
  std::vector<double> ranks;
  rank(place, in_order(values.size()), ranks);
  VectorXd centred(values.size());
  for (Index i = 0; i < centred.size(); ++i) {
    centred[i] = ranks[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])];
  }
  return centred;
}

}  // namespace eigenscope
