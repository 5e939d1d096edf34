// The tuning that comes before the table of regularizers.
#pragma once

#include <vector>

#include "cli/output.h"
#include "cli/training_runs.h"

namespace eigenscope::cli {

struct Tuning {
  std::vector<TrainSettings> settings;  ///< the best of each kind, the baseline's first
  Json report;                          ///< a row for each value that was tried
};

/// Tries five values for each kind of regularizer, on two seeds that the table does not use: the
/// learning rate of the baseline and of sigmaReparam (which has no weight), over a factor of 16 around
/// the given one; LocAteR's scale_weight; QK weight decay. The best has the smallest mean of
/// bits_per_byte; what the baseline likes best is every other kind's too, but sigmaReparam tunes its
/// own. Throws as make_runs does, and FormatError ("preset") when every run of a kind failed.
Tuning tune(const TrainSettings& settings, const RunOptions& options);

}  // namespace eigenscope::cli
