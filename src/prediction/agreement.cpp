#include "prediction/agreement.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "statistics/rank_correlation.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

double mean(const VectorXd& values, const std::vector<Index>& drawn) {
  double sum = 0;
  const double* const value = values.data();
  const Index* const end = drawn.data() + drawn.size();
  for (const Index* i = drawn.data(); i < end; ++i) sum += value[*i];
  return sum / static_cast<double>(drawn.size());  // 0/0 is NaN
}

}  // namespace

Agreement agreement(const VectorXd& predicted, const VectorXd& measured,
                    const Resamples& resamples) {
  if (predicted.size() != measured.size()) {
    throw InvalidArgument("measured", "have an entry for every prediction");
  }
  std::vector<Index> kept;
  for (Index i = 0; i < predicted.size(); ++i) {
    if (!std::isnan(predicted[i]) && !std::isnan(measured[i])) kept.push_back(i);
  }
  const VectorXd a = predicted(kept), b = measured(kept);
  Agreement result;
  result.pairs = a.size();
  const VectorXd differences = (a - b).cwiseAbs();
  const RankedPairs ranked(a, b);
  std::vector<double> correlations, errors;
  if (result.pairs > 0) {
    for (const std::vector<Index>& drawn : resamples.of(result.pairs)) {
      const double correlation = ranked.correlation(drawn);
      if (!std::isnan(correlation)) correlations.push_back(correlation);
      errors.push_back(mean(differences, drawn));
    }
  }
  std::vector<Index> all(static_cast<std::size_t>(result.pairs));
  std::iota(all.begin(), all.end(), Index{0});
  result.rank_correlation = percentile_interval(ranked.correlation(all), std::move(correlations));
  result.error = percentile_interval(mean(differences, all), std::move(errors));
  return result;
}

}  // namespace eigenscope
