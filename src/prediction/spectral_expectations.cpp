#include "prediction/spectral_expectations.h"

#include "prediction/summary.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::VectorXd;

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
