#include "prediction/agreement.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "statistics/rank_correlation.h"
#include "support/argsort.h"
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

double median(const VectorXd& values) {
  std::vector<double> sorted;
  for (const double value : values) {
    if (!std::isnan(value)) sorted.push_back(value);
  }
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  sort_up(sorted);
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

SpectralAgreement spectral_agreement(const std::vector<HeadPrediction>& heads,
                                     const SpectralExpectation& expectation, Metric metric,
                                     const Resamples& resamples) {
  const auto count = static_cast<Index>(heads.size());
  VectorXd predicted(count), measured(count);
  for (Index i = 0; i < count; ++i) {
    const HeadPrediction& head = heads[static_cast<std::size_t>(i)];
    predicted[i] = expectation.quantity->value(head.metrics[static_cast<std::size_t>(metric)]);
    measured[i] = expectation.value(head);
  }
  return {&expectation, metric, agreement(predicted, measured, resamples),
          median(predicted.cwiseQuotient(measured))};
}

std::vector<SpectralAgreement> spectral_agreements(const std::vector<HeadPrediction>& heads,
                                                   const Resamples& resamples) {
  std::vector<SpectralAgreement> agreements;
  for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
    const auto metric = static_cast<Metric>(k);
    for (const SpectralExpectation& expectation : kSpectralExpectations) {
      if (metric == Metric::bare && !expectation.quantity->bare) continue;
      agreements.push_back(spectral_agreement(heads, expectation, metric, resamples));
    }
  }
  return agreements;
}

}  // namespace eigenscope
