// An experiment as a file: every training run of it is one cell of a grid.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "io/json.h"
#include "training/settings.h"

namespace eigenscope {

/// A number of a cell or a results file: null where it is not finite, which JSON cannot say.
inline OrderedJson finite(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

/// One training run.
struct GridCell {
  std::string id;  ///< "alpha=0.5,norm=pre,seed=3": the axes' labels; a file name
  std::vector<std::pair<std::string, std::string>> axes;  ///< name and label, the grid's order
  std::uint64_t seed = 1;
  TrainSettings settings;  ///< without the vocabulary, which is the text's
};

/// A grid file, a JSON object:
///   experiment  its name
///   text, validation, tokenizer, min_count   as the options of `eigenscope train`
///   settings    options of all cells, by their names with underscores
///   axes        {axis: [values of the option of that name], or {label: {option: value, ...}}}
///   stages      [{seeds: n, only: {axis: [labels]}}]: cells in the order in which they are run, each
///               stage the product of its axes, seed by seed from 1 to n; a cell of an earlier stage is not
///               repeated. So what is there after a part of the time is balanced.
///   measures    what is compared, first the one that decides; names of a cell's `final`
///   curve       what is kept of every row of the log
///   kept        what the results keep of a cell's `initial` and `final`, the measures and what an analysis
///               reads among them; everything without it
///   analysis    [{kind, ...}]: see analysis.h
///   baseline    {axis: label}: cells with which those of the other labels are compared seed by seed
struct Grid {
  std::string experiment, text, validation, tokenizer = "bytes";
  Eigen::Index min_count = 3;
  std::vector<GridCell> cells;
  std::vector<std::string> axes, measures, curve, kept;
  std::string baseline_axis, baseline_label;
  OrderedJson source;  ///< the file
};

/// Throws InvalidArgument naming the key of the file that is missing, unknown or out of range.
Grid parse_grid(const std::string& json);

/// The settings that differ from the defaults, by their names.
OrderedJson changed_settings(const TrainSettings& settings);

}  // namespace eigenscope
