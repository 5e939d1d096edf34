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

}  // namespace

double median(const VectorXd& values) {
  std::vector<double> sorted;
  for (const double value : values) {
    if (!std::isnan(value)) sorted.push_back(value);
  }
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(sorted.begin(), sorted.end());
  return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
}

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

Agreement transfer_agreement(const std::vector<HeadPrediction>& heads,
                             const PredictedMeasure& measure, const Resamples& resamples) {
  const VectorXd transfer =
      by_head(heads, [&](const HeadPrediction& head) { return measure.value(head.transfer); });
  return agreement(transfer, measured(heads, measure), resamples);
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

Summary::Summary(Index resamples, std::uint64_t seed, double rotary_decay, bool transfer)
    : resamples_(resamples, seed),
      head_work_(50 * static_cast<double>(resamples)),
      rotary_decay_(rotary_decay) {
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    rows_.push_back({static_cast<Index>(level), kLevels[level].name, 0, {}});
  }
  if (!std::isnan(rotary_decay_)) rows_.push_back({std::nullopt, kRotaryBase, 0, {}});
  rows_.push_back({std::nullopt, kCeiling, 0, {}});
  if (transfer) rows_.push_back({std::nullopt, kTransfer, 0, {}});
  rows_.push_back({std::nullopt, kNull, 0, {}});
}

void Summary::advance(const std::vector<HeadPrediction>& heads) {
  if (done()) return;
  SummaryRow& row = rows_[compared_ / kPredictedMeasures.size()];
  const std::size_t k = compared_++ % kPredictedMeasures.size();
  row.heads = static_cast<Index>(heads.size());
  row.measures[k] = agreement_of(heads, row, kPredictedMeasures[k]);
}

std::vector<SummaryRow> Summary::rows() const {
  const auto whole = static_cast<std::ptrdiff_t>(compared_ / kPredictedMeasures.size());
  return {rows_.begin(), rows_.begin() + whole};
}

Agreement Summary::agreement_of(const std::vector<HeadPrediction>& heads, const SummaryRow& row,
                                const PredictedMeasure& measure) const {
  if (row.level) {
    return level_agreement(heads, static_cast<std::size_t>(*row.level), measure, resamples_);
  }
  if (row.name == kCeiling) return ceiling_agreement(heads, measure, resamples_);
  if (row.name == kTransfer) return transfer_agreement(heads, measure, resamples_);
  if (row.name == kNull) return null_agreement(heads, measure, resamples_);
  const double predicted =
      measure.name == "decay" ? rotary_decay_ : std::numeric_limits<double>::quiet_NaN();
  return constant_agreement(heads, measure, predicted, resamples_);
}

}  // namespace eigenscope
