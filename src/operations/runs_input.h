// Training runs and a text as an input of labs.
#pragma once

#include <cstddef>
#include <vector>

#include "contract/input.h"
#include "training/training_file.h"

namespace eigenscope {

/// The models of training runs. Errors as for read_model.
std::vector<TrainedModel> read_runs(const std::vector<File>& runs);

/// The input of a lab on training runs: its settings, the runs and a text.
template <class Lab, class Settings>
struct RunsInput : Settings {
  std::vector<File> runs;
  std::vector<std::byte> text;

  Lab begin() const { return Lab(read_runs(runs), as_text(text), *this); }
};

}  // namespace eigenscope
