// The checkpoints of one training run at its steps: folders checkpoint-N or stepN beside each other, or revisions of a
// model of the Hugging Face Hub.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/output.h"

namespace eigenscope::cli {

struct CheckpointName {
  std::string run;   ///< the folder above, or the model on the Hub
  std::string name;  ///< the checkpoint's folder, or its revision; empty for a URL and a stream
};
/// The name of a checkpoint, given as for find_checkpoints and open_remote; for a file the name of its folder.
CheckpointName checkpoint_name(const std::string& path);

/// Notes on standard error that the folder of an opened checkpoint also has steps of a run, if it does.
void note_steps_in(const std::string& path);

/// Orders paths: those of one run that have steps in their names (step_in_name) in the order of their steps, in the
/// places that they have together. Throws InvalidArgument ("MODEL") for two names of one step.
std::vector<std::string> in_step_order(const std::vector<std::string>& paths);

/// Checks by the results of `heads` that the steps of a run have one architecture.
class AlikeSteps {
 public:
  /// Compares the result of `heads` with that of the first step of the run. Throws FormatError naming the field that
  /// differs, and both checkpoints.
  void check(const std::string& path, const Json& result);

 private:
  struct First {
    std::string path;
    std::size_t heads;  // excluded ones included
    std::map<std::string, Json> rows;
  };
  std::map<std::string, First> runs_;
};

}  // namespace eigenscope::cli
