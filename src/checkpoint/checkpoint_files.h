// The files of one checkpoint, wherever their bytes come from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

struct CheckpointFiles {
  std::vector<std::shared_ptr<ByteSource>> model;  ///< .safetensors, GGUF, or what torch.save wrote
  std::shared_ptr<ByteSource> index;   ///< names those of `model` that count; null for all of them
  std::shared_ptr<ByteSource> config;  ///< null where there is none
  /// Model type whose conventions the checkpoint has, where its config.json has none that is known; empty for that of
  /// the config.
  std::string model_type = {};
  /// The prefix of the names of the only stack that is read, up to its layers, such as "language_model.model"; empty
  /// for all.
  std::string stack = {};
};

/// Throws FormatError for a file that is not as its format promises or is of another known format, and naming the file
/// that the index has and `model` lacks; InvalidArgument ("stack") where no name begins with `stack`.
std::shared_ptr<const Safetensors> open_tensors(const CheckpointFiles& files);
/// That of the metadata where a GGUF file has none beside it, or of the arguments of the model in a file of torch.save,
/// with `model_type` if that is given; nothing where there is none of these. Throws FormatError, and InvalidArgument
/// ("model_type") for a type that no family lists or that would replace one that is known.
std::optional<Config> read_config(const CheckpointFiles& files);

}  // namespace eigenscope
