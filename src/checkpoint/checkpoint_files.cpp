#include "checkpoint/checkpoint_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint/adapter.h"
#include "checkpoint/config_part.h"
#include "checkpoint/dequantized.h"
#include "checkpoint/family_match.h"
#include "checkpoint/gguf.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"
#include "io/file_format.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

bool is_gguf_file(const std::shared_ptr<ByteSource>& file) { return is_gguf(*file); }

/// The beginning of a file that the ending of its name promises.
struct Promise {
  std::string_view ending, beginning;
};
constexpr std::array kPromises{
    Promise{".gguf", "as GGUF files do, with the letters GGUF"},
    Promise{".bin", "as files of torch.save do, as a ZIP archive"},
    Promise{".pt", "as files of torch.save do, as a ZIP archive"},
    Promise{".pth", "as files of torch.save do, as a ZIP archive"},
    Promise{".ckpt", "as files of torch.save do, as a ZIP archive"},
};

/// Throws FormatError for a file that is empty, of another known format, or not as its name promises.
std::shared_ptr<ByteSource> as_safetensors(const std::shared_ptr<ByteSource>& file) {
  if (file->size() == 0)
    throw FormatError(file->name(), "it must have the weights of a model, but it is empty");
  if (is_torch_file(*file)) return safetensors_of_torch(file);
  refuse_foreign_format(*file);
  for (const auto& [ending, beginning] : kPromises) {
    if (file->name().ends_with(ending))
      throw FormatError(file->name(), "it must begin " + std::string(beginning));
  }
  return file;
}

/// The files of a LoRA adapter by PEFT's names; null without an adapter.
struct AdapterFiles {
  std::shared_ptr<ByteSource> weights, config;
};

/// Moves an adapter's weights and config out of `files`; both stay there where one of them is missing.
AdapterFiles take_adapter(std::vector<std::shared_ptr<ByteSource>>& files) {
  const auto named = [&](std::string_view beginning) {
    const auto place = std::find_if(files.begin(), files.end(), [&](const auto& file) {
      return file_name(file->name()).starts_with(beginning);
    });
    return place == files.end() ? nullptr : *place;
  };
  const AdapterFiles adapter{named("adapter_model."), named("adapter_config.json")};
  if (!adapter.weights || !adapter.config) return {};
  std::erase(files, adapter.weights);
  std::erase(files, adapter.config);
  return adapter;
}

/// The result of `read`, whose FormatErrors name `file`.
template <class Read>
auto named(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const FormatError& error) {
    throw in_file(error, file);
  }
}

/// The tensors under a stack's prefix, and those of no layer, such as the output matrix that its model may share.
std::shared_ptr<const Safetensors> stack_of(const Safetensors& tensors, const std::string& stack) {
  const std::string prefix = stack + (stack.ends_with('.') ? "" : ".");
  const auto is_of_layer = [](const std::string& name) {
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      if (layer_after(name, dot + 1)) return true;
    }
    return layer_after(name, 0).has_value();
  };
  auto kept = std::make_shared<Safetensors>(tensors);
  kept->keep(
      [&](const std::string& name) { return name.starts_with(prefix) || !is_of_layer(name); });
  const auto& names = kept->tensors();
  const auto first = names.lower_bound(prefix);
  if (first == names.end() || !first->first.starts_with(prefix)) {
    throw InvalidArgument(
        "stack", "be what the names of a stack's tensors begin with",
        "found '" + shown_name(stack) + "', with which no name in " + tensors.name() + " begins");
  }
  return kept;
}

}  // namespace

std::shared_ptr<const Safetensors> open_tensors(const CheckpointFiles& files) {
  std::optional<ShardIndex> index;
  std::vector<std::shared_ptr<ByteSource>> given = files.model;
  const AdapterFiles adapter = take_adapter(given);
  if (files.index) {
    index = ShardIndex::read(*files.index);
    const std::set<std::string> named = index->files();
    std::erase_if(given,
                  [&](const auto& file) { return !named.contains(file_name(file->name())); });
  }
  const auto others = std::stable_partition(given.begin(), given.end(), is_gguf_file);
  std::vector<std::shared_ptr<ByteSource>> model;
  if (others != given.begin()) {
    model.push_back(named(given.front()->name(), [&] {
      return safetensors_of_gguf({given.begin(), others});
    }));
  }
  std::transform(others, given.end(), std::back_inserter(model), [](const auto& file) {
    return named(file->name(), [&] { return as_safetensors(file); });
  });
  auto tensors =
      dequantized(open_shards(std::move(model), index ? &*index : nullptr), files.config.get());
  if (adapter.weights) {
    tensors =
        with_adapter(std::move(tensors), open_shards({as_safetensors(adapter.weights)}, nullptr),
                     Config::read(*adapter.config));
  }
  return files.stack.empty() ? tensors : stack_of(*tensors, files.stack);
}

namespace {

std::optional<Config> stored_config(const CheckpointFiles& files) {
  if (files.config) return Config::read(*files.config);
  std::vector<std::shared_ptr<ByteSource>> model = files.model;
  take_adapter(model);
  const bool is_gguf_model =
      !model.empty() && std::all_of(model.begin(), model.end(), is_gguf_file);
  if (is_gguf_model) {
    return named(model.front()->name(), [&] { return config_of_gguf(model); });
  }
  if (model.size() == 1 && is_torch_file(*model.front())) return config_of_torch(model.front());
  return std::nullopt;
}

void declare_type(Config& config, const std::string& type) {
  if (!is_known_type(type)) {
    throw InvalidArgument("model_type", "be one that docs/checkpoints.md lists for a family",
                          "found '" + shown_name(type) + "'");
  }
  for (const char* const key : kTextTypePaths) {
    const std::string stored = config.value(key);
    if (!is_known_type(stored) || stored == type) continue;
    throw InvalidArgument(
        "model_type", "be omitted where config.json has one that is known",
        "'" + std::string(key) + "' in " + config.name() + " is '" + shown_name(stored) + "'");
  }
  config.set_text(kTextTypePaths.front(), type);
  for (const char* const key : kTextTypePaths) {
    if (config.has(key)) config.set_text(key, type);
  }
}

}  // namespace

std::optional<Config> read_config(const CheckpointFiles& files) {
  std::optional<Config> config = stored_config(files);
  if (files.model_type.empty()) return config;
  if (!config) config = Config::parse("{}", "the given model type");
  declare_type(*config, files.model_type);
  return config;
}

}  // namespace eigenscope
