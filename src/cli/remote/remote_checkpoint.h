// A checkpoint on another host: a model of the Hugging Face Hub by its name, or a URL.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "contract/input.h"

namespace eigenscope::cli {

struct RemoteCheckpoint {
  CheckpointFiles files;
  std::map<std::string, File> beside = {};  ///< other small files by name, those that the host has
  std::string adapter = {};  ///< the file of an adapter that is left out of a folder; or empty
};

/// Whether a text begins with http:// or https://. It may have a key or a password, which messages must not show.
bool is_url(const std::string& text);

/// Whether a file, a folder or a link has this name here, even a link that leads nowhere.
bool is_path(const std::string& text);

/// `owner/name@revision` for each of owner/name@revision,revision,..., with what stands behind them (`/file`); only the
/// text itself for a path that exists and for a text of another form. Throws InvalidArgument ("MODEL") for a revision
/// that is there twice.
std::vector<std::string> each_revision(const std::string& text);

/// The checkpoint that `model` names: `owner/name` on the Hub, also with `@revision` and `/file` (hub_model), or a URL
/// that begins with http:// or https:// and ends with the name of a file of weights or an index, as for find_files.
/// Nothing for a path that exists, and for a text of another form. Names host, files and sizes on standard error, then
/// requests the small files `beside` the weights, such as config.json; the weights are read by ranges later. Throws
/// FormatError as RemoteSource and find_on_hub do.
std::optional<RemoteCheckpoint> open_remote(const std::string& model,
                                            const std::set<std::string>& beside);

}  // namespace eigenscope::cli
