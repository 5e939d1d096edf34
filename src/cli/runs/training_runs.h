// The training runs of a grid one after another: each as a cell with its result, or as a folder with its log and
// checkpoints.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/write_safetensors.h"
#include "cli/output.h"
#include "cli/runs/shard.h"
#include "experiment/grid.h"
#include "training/log_row.h"
#include "training/text.h"
#include "training/text_sampler.h"

namespace eigenscope::cli {

/// The grid of one axis, the regularizer: each is trained from `seeds` seeds, beginning with that of
/// `settings`, and compared with the baseline.
Grid short_grid(const TrainSettings& settings, const std::vector<RegularizerKind>& regularizers,
                Eigen::Index seeds);

/// Keeps the cells whose ids `results` lists in `missing`. Throws FormatError naming `file` when it lists none of the
/// grid, or has no such list.
void keep_missing(Grid& grid, const Json& results, const std::string& file);

/// Runs the cells of a shard that have no result in the folder `out` yet, in the grid's order; an unfinished run is
/// saved every `save_every` seconds. Throws InvalidArgument for a bad grid, FormatError for files that cannot be read
/// or written.
void run_cells(const Grid& grid, const Shard& shard, const std::string& out, double save_every);

struct FinishedRun {
  const GridCell* cell;
  std::vector<LogRow> rows = {};  ///< logged by this process; at least the last one
  /// The last state by intervention.
  std::vector<std::pair<std::string, LogRow>> interventions = {};
  std::optional<Attended> attention = {};  ///< of the last state on the prompt
  double tokens_per_second = 0;
  std::string failure = {};
};

/// Settings that all runs of a command share.
struct RunOptions {
  /// The folder of all runs, with a folder such as "locater-seed1" for each; empty for none.
  std::string out;
  bool csv = false;
  bool resume = false;
  /// Names of the interventions with which the last state is evaluated too.
  std::vector<std::string> interventions = {};
  /// A sentence whose attention by the last state is given too; empty for none.
  std::string prompt = {};
  double tame = 0;                            ///< gamma of the intervention `tame`
  std::optional<TensorFormat> exported = {};  ///< also write each finished model for other programs
  std::optional<TensorFormat> weights = {};   ///< also write each finished model's weights alone
  Eigen::Index step_weights = 0;  ///< steps between copies of the weights in 16 bits; 0: none
};

/// Runs the cells of a short grid, with one bar of progress. Throws InvalidArgument for settings of any of them, and for
/// a prompt of fewer than two tokens, before the first begins, or naming the setting that differs in a run to resume;
/// FormatError for a file that cannot be read or written.
std::vector<FinishedRun> run_folders(const Grid& grid, const RunOptions& options);

/// Regularizer, seed, failure, speed, and what was logged: with `rows` every row, else means of the last one; attention
/// on the prompt as tokens and weights by layer, head, query and key.
Json runs_json(const std::vector<FinishedRun>& runs, bool rows);
/// The comparison of collect_results for each regularizer and measure of a short grid: runs, mean, deviation,
/// difference, t, p. Runs that failed are left out.
Json table_of(const Grid& grid, const std::vector<FinishedRun>& runs);

}  // namespace eigenscope::cli
