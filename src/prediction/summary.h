// A model's predictions over its heads: agreement of each level with the measurement, between a ceiling
// and a null.
#pragma once

#include <vector>

#include "prediction/agreement.h"
#include "prediction/predicted_measures.h"
#include "prediction/prediction.h"

namespace eigenscope {

/// Agreement of one level with the measurement over all heads. Draws as agreement() does.
Agreement level_agreement(const std::vector<HeadPrediction>& heads, std::size_t level,
                          const PredictedMeasure& measure, const Resamples& resamples);

/// Agreement of what other passages measure: no prediction from other passages can be expected to be
/// better.
Agreement ceiling_agreement(const std::vector<HeadPrediction>& heads,
                            const PredictedMeasure& measure, const Resamples& resamples);

/// Error of `value` for all heads; nothing is compared where it is NaN. Its rank correlation is not defined.
Agreement constant_agreement(const std::vector<HeadPrediction>& heads,
                             const PredictedMeasure& measure, double value,
                             const Resamples& resamples);

/// The same of the median of the measured values: the best constant.
Agreement null_agreement(const std::vector<HeadPrediction>& heads, const PredictedMeasure& measure,
                         const Resamples& resamples);

}  // namespace eigenscope
