// A model's predictions over its heads: agreement of each level with the measurement, between a ceiling
// and two nulls: the attention on another text, and a constant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "prediction/agreement.h"
#include "prediction/predicted_measures.h"
#include "prediction/prediction.h"

namespace eigenscope {

/// The median of the values that are not NaN; NaN without any.
double median(const Eigen::VectorXd& values);

/// Agreement of one level with the measurement over all heads. Draws as agreement() does.
Agreement level_agreement(const std::vector<HeadPrediction>& heads, std::size_t level,
                          const PredictedMeasure& measure, const Resamples& resamples);

/// Agreement of what other passages measure: no prediction from other passages can be expected to be
/// better.
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
  std::string_view name;              ///< of the level, or one of those
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

}  // namespace eigenscope
