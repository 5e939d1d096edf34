// The table of measures of a head that are both predicted and measured.
#pragma once

#include <array>

#include "inference/head_measures.h"
#include "support/choice.h"

namespace eigenscope {

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

}  // namespace eigenscope
