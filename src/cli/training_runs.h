// Training runs one after another, each with a folder that it can go on from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/write_safetensors.h"
#include "training/trainer.h"

namespace eigenscope::cli {

struct RunPlan {
  TrainSettings settings;
  std::string folder;  ///< in the one of all runs
};

/// Adds the same run from `seeds` seeds, `first` and those that follow; folders are called such as
/// "locater-seed1", after `prefix`.
void add_plans(std::vector<RunPlan>& plans, TrainSettings settings, std::uint64_t first,
               Eigen::Index seeds, const std::string& prefix = "");

struct FinishedRun {
  TrainSettings settings;
  std::vector<LogRow> rows;  ///< logged by this process; at least the last one
  std::vector<std::pair<std::string, LogRow>> interventions;  ///< the last state with each of them
  double tokens_per_second = 0;
  std::string failure;
};

/// What all runs of a command have in common.
struct RunOptions {
  std::shared_ptr<const Text> text;
  std::string validation;  ///< path of the text's own validation text; empty for its last tenth
  std::string out;         ///< the folder of all; empty for none
  bool csv = false;
  bool resume = false;
  /// Names, with which the last state is evaluated too.
  std::vector<std::string> interventions = {};
  double tame = 0;                            ///< for that of this name
  std::optional<TensorFormat> exported = {};  ///< also write each finished model for other programs
};

/// Makes the runs, with one bar of progress, which counts `noun`. Throws InvalidArgument for settings of
/// any of them before the first begins, or naming the setting in which a run to go on with has another;
/// FormatError for a file that cannot be read or written.
std::vector<FinishedRun> make_runs(const std::vector<RunPlan>& plans, const RunOptions& options,
                                   const char* noun);

}  // namespace eigenscope::cli
