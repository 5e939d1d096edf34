// Inputs of training runs: settings and text of one, and those of labs on runs that are done.
#pragma once

#include <cstddef>
#include <vector>

#include "contract/input.h"
#include "training/settings.h"
#include "training/training_file.h"

namespace eigenscope {

struct TextInput {
  std::vector<std::byte> text;
  std::size_t tokenizer = 0;  ///< row of kTokenizerNames
  Eigen::Index min_count = 0;
};
void describe(InputFields& f, TextInput& in);

struct TrainInput {
  TrainSettings settings;
  TextInput text;
  std::vector<std::byte> checkpoint;
  Eigen::Index more = 0;
};
void describe(InputFields& f, TrainInput& in);

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
