// Options that name the files of a checkpoint by a path, a name on the Hugging Face Hub, or a URL.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/operation_command.h"

namespace eigenscope::cli {

/// MODEL, --config and, where the operation has fields for them, --changed, --tokenizer, --preprocessor and
/// --trainer-state; or RUNS.
class CheckpointOptions {
 public:
  /// Adds the options that the operation has fields for; `several` allows more than one MODEL.
  void add_to(CLI::App& app, const Operation& operation, bool several = false);

  /// The checkpoints that were named: a folder of folders stands for those in it, a list of revisions for one each,
  /// the steps of a run in their order (in_step_order). Throws InvalidArgument for a config.json or trainer_state.json
  /// given for more than one checkpoint.
  std::vector<std::string> paths() const;
  /// True if MODEL is the path itself, not a folder that contains it.
  bool names(const std::string& path) const;
  /// Gives an input the files of the checkpoint at `path`. Throws FormatError for files that are missing, and as
  /// open_remote does.
  void give(TypedFields::Reader& reader, const std::string& path) const;
  /// Gives the only checkpoint; nothing where the operation reads none.
  void give(TypedFields::Reader& reader) const;

 private:
  bool any_ = false, several_ = false;
  std::vector<std::string> models_, runs_;
  std::string config_, changed_, changed_config_;
  std::map<FieldSource, std::string> side_paths_;  // other files beside the weights
};

/// The only entry of `checkpoints`, a result of find_checkpoints. Throws InvalidArgument (`name`) for several.
std::string only_checkpoint(const std::string& name, const std::vector<std::string>& checkpoints);

}  // namespace eigenscope::cli
