// A refusal of a file with several stacks, of which one must be chosen.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/error.h"

namespace eigenscope {

/// A file has several stacks of alike layers and not exactly one of them has token embeddings.
struct SeveralStacks : FormatError {
  SeveralStacks(const std::string& file, const std::string& reason, std::vector<std::string> names)
      : FormatError(file, reason), stacks(std::move(names)) {}

  std::vector<std::string> stacks;  ///< each a value of CheckpointFiles::stack
};

}  // namespace eigenscope
