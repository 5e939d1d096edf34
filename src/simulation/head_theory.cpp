#include "simulation/head_theory.h"

#include <limits>

namespace eigenscope {
namespace {

using Eigen::Index;

/// Measures of Gaussian rows, in the order of TheoryMeasure.
constexpr std::array<Estimate RowEstimate::*, kTheoryMeasureNames.size()> kSampled{
    &RowEstimate::localization, &RowEstimate::rho_mean, &RowEstimate::entropy,
    &RowEstimate::participation, &RowEstimate::sensitivity_localization};

bool is_closed(TheoryMeasure measure) {
  return measure == TheoryMeasure::localization || measure == TheoryMeasure::rho_mean;
}

}  // namespace

std::vector<std::optional<TracedHead>> heads_on_grid(const EnsembleSettings& ensemble,
                                                     const std::vector<double>& means,
                                                     const std::vector<double>& variances,
                                                     double temperature) {
  const Ensemble drawn(ensemble);
  std::vector<std::optional<TracedHead>> heads;
  for (const double mean : means) {
    for (const double variance : variances) {
      heads.emplace_back();
      if (!drawn.allows(mean, variance)) continue;
      heads.back() = TracedHead{drawn.moments(mean, variance).traces, temperature};
    }
  }
  return heads;
}

TracedHeadTheory::TracedHeadTheory(const std::vector<std::optional<TracedHead>>& heads,
                                   const HeadTheorySettings& settings)
    : measure_(settings.measure), kernels_(centred_kernels(settings.tokens, settings.queries)) {
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!heads[i]) continue;
    heads_.push_back(*heads[i]);
    places_.push_back(i);
  }
  closed_.value = Eigen::VectorXd::Constant(static_cast<Index>(heads.size()),
                                            std::numeric_limits<double>::quiet_NaN());
  closed_.error = closed_.value;
  closed_.regime.assign(heads.size(), static_cast<std::uint8_t>(Regime::none));
  if (is_closed(measure_)) return;
  rows_.emplace(settings.tokens, heads_, settings.samples, settings.seed, settings.queries);
}

Index TracedHeadTheory::steps_wanted() const {
  return rows_ ? rows_->steps_wanted() : static_cast<Index>(heads_.size());
}

double TracedHeadTheory::work_per_step() const {
  if (rows_) return rows_->work_per_step();
  double keys = 0;
  for (const CentredKernel& kernel : kernels_) keys += static_cast<double>(kernel.cross.size());
  return kPropagationWork * keys;
}

bool TracedHeadTheory::advance(Index steps) {
  if (rows_) return rows_->advance(steps);
  for (; steps > 0 && next_ < steps_wanted(); --steps) {
    const auto k = static_cast<std::size_t>(next_++);
    const Propagation propagation = propagate(kernels_, heads_[k].traces, heads_[k].temperature);
    const bool level = measure_ == TheoryMeasure::rho_mean;
    put(closed_, k, {level ? propagation.rho_mean : propagation.localization, 0},
        propagation.regime);
  }
  return next_ == steps_wanted();
}

HeadTheoryValues TracedHeadTheory::values() const {
  HeadTheoryValues values = closed_;
  for (std::size_t k = 0; rows_ && k < heads_.size(); ++k) {
    const RowEstimate estimate = rows_->estimate(k);
    put(values, k, estimate.*kSampled[static_cast<std::size_t>(measure_)], estimate.regime);
  }
  return values;
}

void TracedHeadTheory::put(HeadTheoryValues& values, std::size_t head, const Estimate& estimate,
                           Regime regime) const {
  const std::size_t place = places_[head];
  values.value[static_cast<Index>(place)] = estimate.value;
  values.error[static_cast<Index>(place)] = estimate.error;
  values.regime[place] = static_cast<std::uint8_t>(regime);
}

}  // namespace eigenscope
