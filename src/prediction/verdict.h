// The explanation of a head's attention: the first level from which on its entropy is predicted.
#pragma once

#include "prediction/prediction.h"

namespace eigenscope {

/// A prediction of the normalized row entropy fits when it is off by at most this.
inline constexpr double kVerdictTolerance = 0.05;

/// The first of the nested levels (isotropic to keys) such that it and all after it fit gives the
/// verdict, its LevelInfo::explains; `unexplained` where the last does not fit. The entropy to fit is
/// the measured one; without measured passages that of level sequences.
Verdict verdict(const HeadPrediction& head);

}  // namespace eigenscope
