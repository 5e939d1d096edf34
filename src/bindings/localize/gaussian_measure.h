// Predicted measures of many heads from their traces: `lines` on a grid, `predict` for real heads.
#pragma once

#include <optional>
#include <vector>

#include "bindings/job.h"
#include "simulation/gaussian_rows.h"

namespace eigenscope::bindings {

/// The measure `input.measure` of each head (a missing head gets NaN), for the tokens, samples and
/// seed of `input`: localization in closed form, the others as expectations over Gaussian rows.
std::unique_ptr<Job> make_measure_job(const std::vector<std::optional<TracedHead>>& heads,
                                      const emscripten::val& input);

}  // namespace eigenscope::bindings
