#include "statistics/permuted_correlation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "statistics/bootstrap.h"
#include "statistics/rank_correlation.h"
#include "support/argsort.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kPermutations = 2000;
constexpr std::uint64_t kStream = std::uint64_t{1} << 45;

void shuffle(std::uint64_t seed, std::uint64_t& draw, std::vector<Index>& order) {
  for (std::size_t i = order.size(); i-- > 1;) {  // Fisher-Yates
    const double at = random_unit(seed, kStream, draw++) * static_cast<double>(i + 1);
    std::swap(order[i], order[static_cast<std::size_t>(at)]);
  }
}

}  // namespace

PermutedCorrelation permuted_correlation(const std::vector<VectorXd>& a,
                                         const std::vector<VectorXd>& b, Permutation permutation,
                                         std::uint64_t seed) {
  std::vector<VectorXd> x,
      y;  // ranks of norm 1 about their mean, of the groups that have a correlation
  MeanSums correlations;
  for (std::size_t g = 0; g < a.size(); ++g) {
    const double correlation = rank_correlation(a[g], b[g]);
    if (!std::isfinite(correlation)) continue;
    correlations.add(correlation);
    x.push_back(centred_ranks(a[g]).normalized());
    y.push_back(centred_ranks(b[g]).normalized());
  }
  if (x.empty()) return {};
  PermutedCorrelation result{correlations.estimate()};
  std::vector<std::vector<Index>> orders;
  for (const VectorXd& ranks : y) orders.push_back(in_order(ranks.size()));
  std::vector<double> drawn;
  std::uint64_t draw = 0;
  for (std::size_t k = 0; k < kPermutations; ++k) {
    double total = 0;
    for (std::size_t g = 0; g < x.size(); ++g) {
      const std::size_t order = permutation == Permutation::common ? 0 : g;
      if (order == g) shuffle(seed, draw, orders[g]);
      total += x[g].dot(y[g](orders[order]));
    }
    drawn.push_back(total / correlations.count());
  }
  // Equal up to rounding counts as far.
  const double far = std::abs(result.value.value) - 1e-12;
  const auto farther =
      std::count_if(drawn.begin(), drawn.end(), [&](double it) { return std::abs(it) >= far; });
  result.p = (1.0 + static_cast<double>(farther)) / (1.0 + kPermutations);
  const Interval interval = percentile_interval(result.value.value, std::move(drawn));
  result.null_low = interval.low;
  result.null_high = interval.high;
  return result;
}

double farthest_null(const std::vector<MatrixXd>& a, const std::vector<VectorXd>& b,
                     std::uint64_t seed) {
  std::vector<MatrixXd> x;  // ranks of norm 1 about their mean, in rows
  std::vector<VectorXd> y;
  std::vector<std::vector<Index>> orders;
  for (std::size_t g = 0; g < a.size(); ++g) {
    x.emplace_back(a[g].rows(), a[g].cols());
    for (Index row = 0; row < a[g].rows(); ++row) {
      x[g].row(row) = centred_ranks(a[g].row(row)).normalized();
    }
    y.push_back(centred_ranks(b[g]).normalized());
    orders.push_back(in_order(b[g].size()));
  }
  std::vector<double> farthest;
  std::uint64_t draw = 0;
  for (std::size_t k = 0; k < kPermutations; ++k) {
    VectorXd total = VectorXd::Zero(a.front().rows());
    for (std::size_t g = 0; g < x.size(); ++g) {
      shuffle(seed, draw, orders[g]);
      const VectorXd permuted = y[g](orders[g]);
      total += x[g] * permuted;
    }
    farthest.push_back(total.cwiseAbs().maxCoeff() / static_cast<double>(x.size()));
  }
  sort_up(farthest);
  return farthest[static_cast<std::size_t>(0.95 * kPermutations)];
}

}  // namespace eigenscope
