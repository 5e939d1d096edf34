#include "checkpoint/checkpoint_files.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "checkpoint/gguf.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"
#include "io/file_format.h"

namespace eigenscope {
namespace {

bool is_gguf_file(const std::shared_ptr<ByteSource>& file) { return is_gguf(*file); }

/// Throws FormatError for a file of a known format that cannot be read.
std::shared_ptr<ByteSource> as_safetensors(const std::shared_ptr<ByteSource>& file) {
  if (is_torch_file(*file)) return safetensors_of_torch(file);
  refuse_foreign_format(*file);
  return file;
}

}  // namespace

std::shared_ptr<const Safetensors> open_tensors(const CheckpointFiles& files) {
  std::optional<ShardIndex> index;
  std::vector<std::shared_ptr<ByteSource>> given = files.model;
  if (files.index) {
    index = ShardIndex::read(*files.index);
    const std::set<std::string> named = index->files();
    std::erase_if(given,
                  [&](const auto& file) { return !named.contains(file_name(file->name())); });
  }
  const auto others = std::stable_partition(given.begin(), given.end(), is_gguf_file);
  std::vector<std::shared_ptr<ByteSource>> model;
  if (others != given.begin()) model = safetensors_of_gguf({given.begin(), others});
  std::transform(others, given.end(), std::back_inserter(model), as_safetensors);
  return open_shards(std::move(model), index ? &*index : nullptr);
}

std::optional<Config> read_config(const CheckpointFiles& files) {
  if (files.config) return Config::read(*files.config);
  const bool is_model =
      !files.model.empty() && std::all_of(files.model.begin(), files.model.end(), is_gguf_file);
  if (is_model) return config_of_gguf(files.model);
  return std::nullopt;
}

}  // namespace eigenscope
