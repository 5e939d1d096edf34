// The results of an experiment in one object: cells, what is missing, comparisons.
#pragma once

#include <functional>
#include <optional>

#include "experiment/grid.h"

namespace eigenscope {

/// {experiment, grid, summary, missing, cells}: `cells` the results in the grid's order, `missing` the ids of cells
/// without one, `summary` for every combination of the axes' labels: runs, failures (runs whose loss was not finite;
/// they count in nothing else), and for each measure mean, standard deviation and, with a baseline, the
/// mean difference from the baseline's runs of the same seeds and labels, its t and p (paired t test, two-sided),
/// and the number of pairs. Depends on the cells alone, not on who ran them or when.
OrderedJson collect_results(
    const Grid& grid, const std::function<std::optional<OrderedJson>(const GridCell&)>& result_of);

}  // namespace eigenscope
