// Inputs of a training run: its settings and its text.
#pragma once

#include <cstddef>
#include <vector>

#include "contract/input.h"
#include "training/settings.h"

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

}  // namespace eigenscope
