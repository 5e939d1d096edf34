#include "prediction/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

template <class Entry>
VectorXd by_head(const std::vector<HeadPrediction>& heads, Entry entry) {
  VectorXd values(static_cast<Index>(heads.size()));
  for (std::size_t i = 0; i < heads.size(); ++i) values[static_cast<Index>(i)] = entry(heads[i]);
  return values;
}

VectorXd measured(const std::vector<HeadPrediction>& heads, const PredictedMeasure& measure) {
  return by_head(heads, [&](const HeadPrediction& head) { return measure.value(head.measured); });
}

double median(const VectorXd& values) {
  std::vector<double> sorted;
  for (const double value : values) {
    if (!std::isnan(value)) sorted.push_back(value);
  }
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(sorted.begin(), sorted.end());
  return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
}

}  // namespace

Agreement level_agreement(const std::vector<HeadPrediction>& heads, std::size_t level,
                          const PredictedMeasure& measure, const Resamples& resamples) {
  const VectorXd predicted =
      by_head(heads, [&](const HeadPrediction& head) { return measure.value(head.levels[level]); });
  return agreement(predicted, measured(heads, measure), resamples);
}

Agreement ceiling_agreement(const std::vector<HeadPrediction>& heads,
                            const PredictedMeasure& measure, const Resamples& resamples) {
  const VectorXd ceiling =
      by_head(heads, [&](const HeadPrediction& head) { return measure.value(head.ceiling); });
  return agreement(ceiling, measured(heads, measure), resamples);
}

Agreement constant_agreement(const std::vector<HeadPrediction>& heads,
                             const PredictedMeasure& measure, double value,
                             const Resamples& resamples) {
  const VectorXd values = measured(heads, measure);
  return agreement(VectorXd::Constant(values.size(), value), values, resamples);
}

Agreement null_agreement(const std::vector<HeadPrediction>& heads, const PredictedMeasure& measure,
                         const Resamples& resamples) {
  return constant_agreement(heads, measure, median(measured(heads, measure)), resamples);
}

}  // namespace eigenscope
