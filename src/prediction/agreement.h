// Agreement of predictions with measurements: each level, between a ceiling and two nulls (the attention on another
// text, and a constant), and the quantities of a head's spectrum that are expected to order the heads.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/head_measures.h"
#include "prediction/head_prediction.h"
#include "statistics/bootstrap.h"
#include "support/choice.h"

namespace eigenscope {

struct Agreement {
  Eigen::Index pairs = 0;  ///< without NaN
  Interval rank_correlation;
  Interval error;  ///< mean |predicted - measured|
};

/// Agreement over the pairs without NaN. The intervals are the percentiles 2.5 and 97.5 of
/// these resamples, a percentile bootstrap. A resample whose rank correlation is not defined is left out.
/// Throws InvalidArgument ("measured") when the lengths differ.
Agreement agreement(const Eigen::VectorXd& predicted, const Eigen::VectorXd& measured,
                    const Resamples& resamples);

/// A row: the results of `predict`, the agreement of its levels and the page's choice have one entry each.
struct PredictedMeasure : Choice {
  Help meaning;
  bool share;  ///< in [0, 1], which then is the range of the figure's axes
  double (*value)(const HeadMeasures&);
};

inline constexpr std::array kPredictedMeasures{
    PredictedMeasure{{"entropy", "entropy"},
                     "row entropy over the log of the number of visible keys",
                     true,
                     [](const HeadMeasures& m) { return m.row.entropy; }},
    PredictedMeasure{{"participation", "participation"},
                     "participation ratio 1/(n sum p^2) of a row with n visible keys",
                     true,
                     [](const HeadMeasures& m) { return m.row.participation; }},
    PredictedMeasure{{"sink", "sink"},
                     "attention to the first token and the separator together",
                     true,
                     [](const HeadMeasures& m) { return m.row.sink(); }},
    PredictedMeasure{{"distance", "distance"},
                     "mean distance between query and key, weighted by attention; tokens",
                     false,
                     [](const HeadMeasures& m) { return m.distance; }},
    PredictedMeasure{{"decay", "decay"},
                     "exponent gamma of attention ~ distance^-gamma",
                     false,
                     [](const HeadMeasures& m) { return m.decay; }},
    PredictedMeasure{{"sensitivity_localization", "sensitivity"},
                     "localization index of the sensitivity E[p (1 - p)]",
                     true,
                     [](const HeadMeasures& m) { return m.sensitivity_localization; }},
};

/// The median of the values that are not NaN; NaN without any.
double median(const Eigen::VectorXd& values);

/// Agreement of one level with the measurement over all heads. Draws as agreement() does.
Agreement level_agreement(const std::vector<HeadPrediction>& heads, std::size_t level,
                          const PredictedMeasure& measure, const Resamples& resamples);

/// Agreement of the measures on other passages of the text, a ceiling: no prediction from other passages can be
/// expected to be better.
Agreement ceiling_agreement(const std::vector<HeadPrediction>& heads,
                            const PredictedMeasure& measure, const Resamples& resamples);

/// Agreement of what the heads measure on another text: a prediction that any text gives.
Agreement transfer_agreement(const std::vector<HeadPrediction>& heads,
                             const PredictedMeasure& measure, const Resamples& resamples);

/// Error of `value` for all heads; nothing is compared where it is NaN. Its rank correlation is not defined.
Agreement constant_agreement(const std::vector<HeadPrediction>& heads,
                             const PredictedMeasure& measure, double value,
                             const Resamples& resamples);

/// The agreement of the best constant, the median of the measured values, with these.
Agreement null_agreement(const std::vector<HeadPrediction>& heads, const PredictedMeasure& measure,
                         const Resamples& resamples);

/// Names of the rows of a summary that are no levels.
inline constexpr std::string_view kRotaryBase = "rotary-base", kCeiling = "ceiling",
                                  kTransfer = "transfer", kNull = "null";

/// A level, the base of rotary positions, the ceiling, another text or the null against the measurement.
struct SummaryRow {
  std::optional<Eigen::Index> level;  ///< none for the rows after the levels
  std::string_view name;              ///< of the level, or one of the names above
  Eigen::Index heads = 0;
  std::array<Agreement, kPredictedMeasures.size()> measures;
};

/// The agreement of every level, of the base of rotary positions, of the ceiling, of another text and of the
/// null with the measurement, in steps of one measure of one row.
class Summary {
 public:
  /// `rotary_decay` is the exponent of that name for all heads; NaN for a model without rotary positions,
  /// whose summary has no row for them. `transfer` says whether
  /// another text is measured, which has a row then. `resamples` and `seed` as for Resamples.
  Summary(Eigen::Index resamples, std::uint64_t seed, double rotary_decay, bool transfer);

  bool done() const { return compared_ == rows_.size() * kPredictedMeasures.size(); }
  /// Compares the next measure of the next row over all heads, which must be the same in every call.
  void advance(const std::vector<HeadPrediction>& heads);
  /// About how many multiply-adds a step costs.
  double work_per_step(std::size_t heads) const { return head_work_ * static_cast<double>(heads); }
  /// The rows of which every measure is compared.
  std::vector<SummaryRow> rows() const;

 private:
  Agreement agreement_of(const std::vector<HeadPrediction>& heads, const SummaryRow& row,
                         const PredictedMeasure& measure) const;

  Resamples resamples_;
  double head_work_;
  double rotary_decay_;
  std::vector<SummaryRow> rows_;
  std::size_t compared_ = 0;  // measures of rows
};

/// A row of the table, which was fixed after a trial with MiniLM and before other models were measured.
struct SpectralExpectation {
  const SpectralQuantity* quantity;
  std::string_view measured;  ///< name of the measure
  int sign;                   ///< sign of the expected rank correlation
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

/// The agreement of an expectation with the heads.
struct SpectralAgreement {
  const SpectralExpectation* expectation = &kSpectralExpectations.front();
  Metric metric = Metric::bare;
  Agreement agreement;
  /// Median over heads of quantity / measure; NaN without pairs.
  double ratio = 0;
};

/// Agreement over the heads whose quantity and measure are both known. Draws as agreement() does.
SpectralAgreement spectral_agreement(const std::vector<HeadPrediction>& heads,
                                     const SpectralExpectation& expectation, Metric metric,
                                     const Resamples& resamples);

/// All expectations in every metric in which their quantity exists, metric by metric.
std::vector<SpectralAgreement> spectral_agreements(const std::vector<HeadPrediction>& heads,
                                                   const Resamples& resamples);

}  // namespace eigenscope
