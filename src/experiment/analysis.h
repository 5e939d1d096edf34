// The numbers that an experiment's questions are answered with, from its cells.
#pragma once

#include <span>

#include "experiment/grid.h"

namespace eigenscope {

/// `of` is one entry of a grid's `analysis`; `cells` are results. Adds `rows` (and more) to a copy of it:
///   kind sensitivity, axis, group, tolerance, reach: over the axis (numbers), for each label of the group the
///     mean of the first measure, its excess over the label's own best (mean over the axis values that have
///     runs), the largest axis value without failure and within `tolerance` of the best, and for each value
///     of `reach` the share of runs that came below it and their mean step;
///   kind share, below: for each combination of labels the share of runs whose first measure ends below, with
///     Wilson's 95% interval;
///   kind predictors, predictors, by: over cells (means over seeds), for each combination of the axes `by`, the
///     rank correlation of a measure of the untrained model with the first measure at the end, and the area
///     under the ROC curve: the probability that of two cells, one below and one not below the median loss,
///     the first has the smaller value (0.5: no prediction);
///   kind freezing, by: over the same cells, for an experiment with the axes alpha and init_scale: where the
///     logits of the untrained models freeze by attention/criticality.h. For each combination of the axes
///     `by` (norm and depth, which it does not know): `unlike`, 1 minus the mean cosine of the tokens, from the
///     relative residual of the untrained models; `scales`, the freezing scale for each alpha; how many cells
///     lie `beyond`, with the mean first measure at the end on either side; and of the predicted variance over
///     2 log T what kind predictors has of a measure;
///   kind plateau, below, drivers, by: over runs, the rank correlation of a driver in the first logged row
///     after step 0 with the step at which the first measure comes below (runs that never do rank last); for
///     each combination of the axes `by`, without it over all runs;
///   kind relation, of, by: how the two curves that `of` names go together over the logged rows after step 0 of
///     the same runs: their rank correlation over the rows of all runs, and the mean over runs of that within a
///     run.
/// Throws InvalidArgument naming what is missing or unknown.
OrderedJson analyse(const Grid& grid, const OrderedJson& of, std::span<const OrderedJson> cells);

/// Wilson's 95% interval of a share of `count` among `runs` >= 1 (Wilson, 1927).
struct ShareInterval {
  double low, high;
};
ShareInterval wilson_interval(int count, int runs);

/// Probability that a draw of `low` is smaller than one of `high`, ties half; NaN when one is empty.
double area_under_curve(const std::vector<double>& low, const std::vector<double>& high);

}  // namespace eigenscope
