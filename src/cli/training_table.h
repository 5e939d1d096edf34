// Comparison of finished runs.
#pragma once

#include <vector>

#include "cli/output.h"
#include "cli/training_runs.h"

namespace eigenscope::cli {

/// For each kind of regularizer and measure of the last row (means over heads or layers): runs, mean,
/// standard deviation and, against `none` where it has the same seeds, mean difference and a paired t
/// test. Runs that broke are left out.
Json table_of(const std::vector<FinishedRun>& runs);
/// The runs; with `rows` every row of theirs, else the last one's means.
Json runs_to_json(const std::vector<FinishedRun>& runs, bool rows);

}  // namespace eigenscope::cli
