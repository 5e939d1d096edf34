// Finds a checkpoint's files from a path that the user gives: a folder or a file. For the command line;
// the page has no folders and makes the ByteSource itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "support/error.h"

namespace eigenscope {

struct Checkpoint {
  std::shared_ptr<const Safetensors> tensors;
  std::optional<Config> config;  ///< nothing when there is no config.json beside the weights
};

/// The message about a folder for which `weights_among` finds nothing.
inline constexpr const char* kNoWeights =
    "there is no .safetensors, .gguf, pytorch_model.bin, .pt, .pth or .ckpt file of a model in it";

/// The file of weights among the sorted `names` of a folder's files, or the index of its shards: model.safetensors, one
/// index, or else exactly one *.safetensors, one GGUF model, pytorch_model.bin, or one *.pt, *.pth or *.ckpt that is
/// not named as the state of a training (optimizer.pt); empty where there is none. Throws FormatError naming the
/// `folder` where several would do.
std::string weights_among(const std::string& folder, const std::vector<std::string>& names);

/// The file of an adapter of PEFT or MLX in the folder of a checkpoint whose file of weights is called `weights`; empty
/// where there is none, or it is the weights. `has` tells whether the folder has a file of this name.
std::string adapter_beside(const std::string& weights,
                           const std::function<bool(const std::string& name)>& has);

/// Opens a file by its name within the folder of a checkpoint.
using OpenFile = std::function<std::shared_ptr<ByteSource>(const std::string& name)>;

/// The files of the checkpoint whose file of weights, or index of shards, is called `weights`, without its config: the
/// shards that an index names, or the other parts of a GGUF model. Throws FormatError as `open` and ShardIndex do.
CheckpointFiles files_of(const std::string& weights, const OpenFile& open);

/// The files of the checkpoint at `path`: a .safetensors file, or a stream of one (open_source), which
/// has nothing beside it; a GGUF file, with the other parts beside it where it is one of several; a file
/// of torch.save; the *.safetensors.index.json or pytorch_model.bin.index.json of a sharded one, beside
/// which its shards lie; or a folder with weights (weights_among). The config is `config_path` when that is not
/// empty, else the config.json beside the weights, or the adapter_config.json beside adapter_model.safetensors, or,
/// beside consolidated weights (consolidated.*), the params.json, if there is one and `look_beside` is true. Throws
/// FormatError, naming the path, the tensor or the key, when something is missing, ambiguous or malformed; for a file
/// of another format, and for a folder whose largest file is one, the message names the format.
CheckpointFiles find_files(const std::string& path, const std::string& config_path = "",
                           bool look_beside = true);

/// Opens the files of find_files() and reads the headers of tensors and the config. Throws as find_files() does.
Checkpoint open_checkpoint(const std::string& path, const std::string& config_path = "",
                           bool look_beside = true);

/// Is told of each folder that is left out, and why.
using SkippedFolder = std::function<void(const FormatError& failure)>;

/// The checkpoints that `path` stands for: itself; or, for a folder without weights directly in it, those
/// of the folders in it that have some, in the order of their names; `with_steps` also of those that are named as
/// steps of a training (step_in_name), be they without weights or broken links: opening one says what is wrong. Where
/// others have weights, a folder in `path` that cannot be listed is left out and given to `skipped`; otherwise throws
/// FormatError for it, as for `path` itself.
std::vector<std::string> find_checkpoints(const std::string& path, bool with_steps = false,
                                          const SkippedFolder& skipped = {});

}  // namespace eigenscope
