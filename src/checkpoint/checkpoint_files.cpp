#include "checkpoint/checkpoint_files.h"

#include <set>
#include <string>

#include "checkpoint/gguf.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"
#include "io/file_format.h"

namespace eigenscope {
namespace {

/// Throws FormatError for a file of a known format that cannot be read.
std::shared_ptr<ByteSource> as_safetensors(const std::shared_ptr<ByteSource>& file) {
  if (is_gguf(*file)) return safetensors_of_gguf(file);
  if (is_torch_file(*file)) return safetensors_of_torch(file);
  refuse_foreign_format(*file);
  return file;
}

}  // namespace

std::shared_ptr<const Safetensors> open_tensors(const CheckpointFiles& files) {
  std::vector<std::shared_ptr<ByteSource>> model;
  for (const std::shared_ptr<ByteSource>& file : files.model) model.push_back(as_safetensors(file));
  if (!files.index) return open_shards(std::move(model), nullptr);
  const ShardIndex index = ShardIndex::read(*files.index);
  const std::set<std::string> named = index.files();
  std::erase_if(model, [&](const auto& file) { return !named.contains(file_name(file->name())); });
  return open_shards(std::move(model), &index);
}

std::optional<Config> read_config(const CheckpointFiles& files) {
  if (files.config) return Config::read(*files.config);
  if (files.model.size() == 1 && is_gguf(*files.model.front()))
    return config_of_gguf(*files.model.front());
  return std::nullopt;
}

}  // namespace eigenscope
