// Which quantity of a head's spectrum is expected to order the heads by which measure of their attention,
// and how well it does.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "prediction/agreement.h"
#include "prediction/head_prediction.h"

namespace eigenscope {

/// A row of the table, which was fixed after a trial with MiniLM and before other models were measured.
struct SpectralExpectation {
  const SpectralQuantity* quantity;
  std::string_view measured;  ///< name of the measure
  int sign;                   ///< that of the expected rank correlation
  double (*value)(const HeadPrediction&);
};

inline constexpr std::array kSpectralExpectations{
    SpectralExpectation{&spectral_quantity("spread"), "entropy", -1,
                        [](const HeadPrediction& head) { return head.measured.row.entropy; }},
    SpectralExpectation{&spectral_quantity("spread_content"), "entropy", -1,
                        [](const HeadPrediction& head) { return head.measured.row.entropy; }},
    SpectralExpectation{&spectral_quantity("sink_gap"), "entropy", -1,
                        [](const HeadPrediction& head) { return head.measured.row.entropy; }},
    SpectralExpectation{&spectral_quantity("sink_gap"), "sink", 1,
                        [](const HeadPrediction& head) { return head.measured.row.sink(); }},
    SpectralExpectation{&spectral_quantity("trace"), "self_logit", 1,
                        [](const HeadPrediction& head) { return head.measured.self_logit; }},
    SpectralExpectation{&spectral_quantity("trace_content"), "self_logit", 1,
                        [](const HeadPrediction& head) { return head.measured.self_logit; }},
    SpectralExpectation{&spectral_quantity("components"), "logit_components", 1,
                        [](const HeadPrediction& head) { return head.measured_logits.components; }},
    SpectralExpectation{&spectral_quantity("logit_bound"), "largest_logit", 1,
                        [](const HeadPrediction& head) { return head.measured_logits.largest; }},
};

/// An expectation against the heads.
struct SpectralAgreement {
  const SpectralExpectation* expectation = &kSpectralExpectations.front();
  Metric metric = Metric::bare;
  Agreement agreement;
  /// Median over heads of quantity / measure; NaN without pairs.
  double ratio = 0;
};

/// Over the heads of which both are known. Draws as agreement() does.
SpectralAgreement spectral_agreement(const std::vector<HeadPrediction>& heads,
                                     const SpectralExpectation& expectation, Metric metric,
                                     const Resamples& resamples);

/// All expectations in every metric in which their quantity exists, metric by metric.
std::vector<SpectralAgreement> spectral_agreements(const std::vector<HeadPrediction>& heads,
                                                   const Resamples& resamples);

}  // namespace eigenscope
