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

/// The tensors of a checkpoint: of all files of `model` that count, quantized weights decoded and a LoRA adapter among
/// the files merged; with `stack`, only those under its prefix and those of no layer. Throws FormatError for a file
/// that is not as its format promises or is of another known format, and naming the file that the index has and `model`
/// lacks; InvalidArgument ("stack") where no name begins with `stack`.
std::shared_ptr<const Safetensors> open_tensors(const CheckpointFiles& files);
/// The config of a checkpoint: config.json, else the metadata of GGUF files, else the arguments of the model in a file
/// of torch.save; with `model_type` if that is given. Nothing where there is none of these. Throws FormatError, and
/// InvalidArgument ("model_type") for a type that no family lists or that would replace one that is known.
std::optional<Config> read_config(const CheckpointFiles& files);

}  // namespace eigenscope
