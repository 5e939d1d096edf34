// Inputs and results of operations on checkpoints.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "contract/input.h"
#include "contract/result.h"
#include "support/error.h"
#include "training/training_file.h"

namespace eigenscope {

/// model, index, config.
void describe(InputFields& f, CheckpointFiles& files);

/// That a file of the name `field`.json is missing, which an operation has a field for: names the weights.
FormatError missing_beside(const CheckpointFiles& files, const std::string& field);

/// Throws FormatError for a missing config.json, naming the weights.
Config needed_config(const CheckpointFiles& files);

/// The models of training runs. Errors as for read_model.
std::vector<TrainedModel> read_runs(const std::vector<File>& runs);

/// The bytes of a file as text; not checked to be UTF-8.
inline std::string_view as_text(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

/// The input of a lab on training runs: its settings, the runs and a text.
template <class Lab, class Settings>
struct RunsInput : Settings {
  std::vector<File> runs;
  std::vector<std::byte> text;

  Lab begin() const { return Lab(read_runs(runs), as_text(text), *this); }
};

}  // namespace eigenscope
