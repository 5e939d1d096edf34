#include "bindings/files.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/shard_index.h"

namespace eigenscope::bindings {

std::shared_ptr<const Safetensors> tensors_of(const val& input) {
  std::vector<std::shared_ptr<ByteSource>> files;
  const val model = input["model"];
  const auto count = model["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) files.push_back(std::make_shared<ScriptSource>(model[i]));
  if (input["index"].isNull()) return open_shards(std::move(files), nullptr);
  ScriptSource source(input["index"]);
  const ShardIndex index = ShardIndex::read(source);
  const std::set<std::string> named = index.files();
  std::erase_if(files, [&](const auto& file) { return !named.contains(file_name(file->name())); });
  return open_shards(std::move(files), &index);
}

std::optional<Config> config_of(const val& input) {
  if (input["config"].isNull()) return std::nullopt;
  ScriptSource source(input["config"]);
  return Config::read(source);
}

}  // namespace eigenscope::bindings
