// Grids of measurements: one operation on many checkpoints, each a cell.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "contract/operation.h"

namespace eigenscope::cli {

/// A grid file, a JSON object:
///   experiment   its name
///   operation    `heads` or `predict`
///   checkpoints  paths of models; a folder of folders stands for those in it, by their names
///   options      {option: value}: options of the operation by their names with underscores; true for one
///                without a value
struct CheckpointGrid {
  struct Cell {
    std::string id;  ///< the path with `+` for `/`: a file name
    std::string checkpoint;
  };
  std::string experiment;
  const Operation* operation = nullptr;
  std::vector<Cell> cells;
  Json options = Json::object();
  Json source;  ///< the file
};

/// True if the grid file has the key `checkpoints`.
bool has_checkpoints(const std::string& json);

/// Throws InvalidArgument naming the key that is missing, unknown or not allowed, FormatError for a folder of
/// checkpoints that cannot be read.
CheckpointGrid parse_checkpoint_grid(const std::string& json);

/// {experiment, grid, missing, cells}: the results that `folder` has, in the grid's order, each with id,
/// checkpoint and what the operation gives as JSON; `missing` the ids of the others. Throws FormatError for
/// a file that is not the result of its cell.
Json collect_checkpoints(const CheckpointGrid& grid, const std::string& folder);

/// The options --grid, --shard and --out of a command that measures checkpoints.
class CheckpointGridOptions {
 public:
  /// Adds the options; call after MODEL, which --grid replaces. Adds nothing for an operation that grids do not have.
  void add_to(CLI::App& app, const Operation& operation);
  bool given() const { return grid_option_ != nullptr && grid_option_->count() > 0; }
  /// Measures the checkpoints of this share that have no result in the folder yet; each result is a file
  /// `<id>.json`, whole or not there. A checkpoint that cannot be measured is named on standard error, and
  /// the others are measured. Throws InvalidArgument for a bad grid and for options beside it, FormatError
  /// for a file that cannot be written and, at the end, when a checkpoint failed.
  void run() const;

 private:
  const CLI::App* app_ = nullptr;
  const Operation* operation_ = nullptr;
  std::string grid_, shard_, out_;
  CLI::Option* grid_option_ = nullptr;
};

}  // namespace eigenscope::cli
