// A checkpoint on another host: a model of the Hugging Face Hub by its name, or a URL.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/checkpoint_files.h"
#include "contract/input.h"

namespace eigenscope::cli {

/// What is requested beside the weights, where the host has it.
struct Beside {
  bool config, tokenizer;
};

struct RemoteCheckpoint {
  CheckpointFiles files;
  File tokenizer;  ///< null where there is none
};

/// The checkpoint that `model` names: `owner/name` on the Hub, also with `@revision` and `/file` (hub_model), or a URL
/// that begins with http:// or https:// and ends with the name of a file of weights or an index, as for find_files.
/// Nothing for a path that exists, and for a text of another form. Names host, files and sizes on standard error, then
/// requests the small files; the weights are read by ranges later. Throws FormatError as RemoteSource and find_on_hub
/// do.
std::optional<RemoteCheckpoint> open_remote(const std::string& model, const Beside& beside);

}  // namespace eigenscope::cli
