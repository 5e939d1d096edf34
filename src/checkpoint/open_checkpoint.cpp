#include "checkpoint/open_checkpoint.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "checkpoint/gguf_header.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"
#include "checkpoint/trainer_state.h"
#include "io/file_format.h"
#include "support/error.h"

namespace eigenscope {
namespace {

namespace fs = std::filesystem;
using std::literals::operator""sv;

constexpr std::string_view kWeights = ".safetensors";
constexpr std::string_view kIndex = ".safetensors.index.json";
constexpr std::string_view kGguf = ".gguf";
constexpr std::string_view kTorch = "pytorch_model.bin";
constexpr std::string_view kTorchAdapter = "adapter_model.bin";  // of older versions of PEFT
constexpr std::string_view kTorchIndex = "pytorch_model.bin.index.json";
constexpr std::array kTorchEndings{".pt"sv, ".pth"sv, ".ckpt"sv};
constexpr auto kTrainingState = std::to_array<std::string_view>({
#include "checkpoint/training_state.inc"
});
constexpr std::string_view kShardedOptimizer = "optim_states";  // of DeepSpeed, inside the name
constexpr std::size_t kShownFiles = 5;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::vector<std::string> files_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(ending) && is_file(entry->path())) names.push_back(name);
  }
  if (error) throw FormatError(folder.string(), "it cannot be read: " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_training_state(std::string_view name) {
  constexpr std::string_view kAfter = "-_.0123456789";
  return name.find(kShardedOptimizer) != std::string_view::npos ||
         std::any_of(kTrainingState.begin(), kTrainingState.end(), [&](std::string_view state) {
           return name.starts_with(state) && name.size() > state.size() &&
                  kAfter.find(name[state.size()]) != std::string_view::npos;
         });
}

/// The names, except those of training states, with an ending of files that torch.save writes.
std::vector<std::string> torch_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  std::copy_if(names.begin(), names.end(), std::back_inserter(files), [](const std::string& name) {
    return !is_training_state(name) &&
           std::any_of(kTorchEndings.begin(), kTorchEndings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); });
  });
  return files;
}

[[noreturn]] void refuse_choice(const std::string& folder, const std::vector<std::string>& names,
                                std::string_view kind) {
  std::string message =
      "it holds " + std::to_string(names.size()) + " " + std::string(kind) + " files (";
  for (std::size_t i = 0; i < std::min(names.size(), kShownFiles); ++i) {
    message += (i == 0 ? "" : ", ") + names[i];
  }
  message += names.size() > kShownFiles ? ", ...)" : ")";
  throw FormatError(folder, message + "; name one of them, as in " + folder +
                                (folder.ends_with('/') ? "" : "/") + names.front());
}

/// The message names the folder's largest file too, which in a folder of another format is the weights.
[[noreturn]] void refuse_without_weights(const fs::path& folder) {
  std::string largest;
  std::uintmax_t most = 0;
  for (const std::string& name : files_ending(folder, "")) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(folder / name, error);
    if (error || size <= most) continue;
    largest = name;
    most = size;
  }
  std::string message = kNoWeights;
  if (is_training_state(largest)) {
    message += "; the largest file, " + largest + ", is the state of a training";
  } else if (!largest.empty()) {
    FileSource source((folder / largest).string());
    try {
      if (is_torch_file(source) || is_gguf(source))
        throw FormatError(source.name(), "name it as the model instead of the folder");
      refuse_foreign_format(source);
    } catch (const FormatError& error) {
      message += "; the largest file is " + std::string(error.what());
    }
  }
  throw FormatError(folder.string(), message);
}

fs::path weights_in(const fs::path& folder) {
  const std::string weights = weights_among(folder.string(), files_ending(folder, ""));
  if (weights.empty()) refuse_without_weights(folder);
  return folder / weights;
}

std::shared_ptr<ByteSource> find_config(const fs::path& weights, const std::string& config_path,
                                        bool look_beside) {
  if (!config_path.empty()) return open_source(config_path);
  if (!look_beside || !is_file(weights)) return nullptr;
  const std::string file = weights.filename().string();
  const auto beside = [&](const char* name) {
    const fs::path path = weights.parent_path() / name;
    return is_file(path) ? std::make_shared<FileSource>(path.string()) : nullptr;
  };
  if (file.starts_with("adapter_model.")) return beside("adapter_config.json");  // as PEFT saves it
  const auto config = beside("config.json");
  // Mistral and Meta publish consolidated weights with params.json.
  return config == nullptr && file.starts_with("consolidated.") ? beside("params.json") : config;
}

bool holds_weights(const fs::path& folder) {
  return !files_ending(folder, kIndex).empty() || !files_ending(folder, kWeights).empty() ||
         !files_ending(folder, kGguf).empty() || is_file(folder / kTorch) ||
         is_file(folder / kTorchIndex) || is_file(folder / kTorchAdapter) ||
         !torch_files(files_ending(folder, "")).empty();
}

/// Whether an entry is named as a step of a training; it may be a broken link.
bool is_step_folder(const fs::directory_entry& entry) {
  std::error_code error;
  const std::string name = entry.path().filename().string();
  try {
    return !entry.is_regular_file(error) && step_in_name(name).has_value();
  } catch (const FormatError&) {
    return true;  // a number out of range, which is refused where it is opened
  }
}

}  // namespace

std::string weights_among(const std::string& folder, const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const char* usual : {"model.safetensors", "model.safetensors.index.json"}) {
    if (has(usual)) return usual;
  }
  for (const std::string_view ending : {kIndex, kWeights, kGguf}) {
    std::vector<std::string> files;
    std::copy_if(names.begin(), names.end(), std::back_inserter(files),
                 [&](const std::string& name) { return name.ends_with(ending); });
    const bool is_one = std::all_of(files.begin(), files.end(), [&](const std::string& name) {
      return gguf_part_names(name) == gguf_part_names(files.front());
    });
    if (!files.empty() && is_one) return files.front();
    if (files.size() > 1) refuse_choice(folder, files, ending);
  }
  for (const std::string_view usual : {kTorch, kTorchIndex, kTorchAdapter}) {
    if (has(usual)) return std::string(usual);
  }
  const std::vector<std::string> files = torch_files(names);
  if (files.size() > 1) refuse_choice(folder, files, "PyTorch");
  return files.empty() ? "" : files.front();
}

std::string adapter_beside(const std::string& weights,
                           const std::function<bool(const std::string& name)>& has) {
  const std::array<std::string, 3> names{"adapter_model.safetensors", std::string(kTorchAdapter),
                                         "adapters.safetensors"};
  if (std::find(names.begin(), names.end(), weights) != names.end()) return "";
  const auto adapter = std::find_if(names.begin(), names.end(), has);
  return adapter == names.end() ? "" : *adapter;
}

CheckpointFiles files_of(const std::string& weights, const OpenFile& open) {
  CheckpointFiles files;
  if (weights.ends_with(kIndex) || weights.ends_with(kTorchIndex)) {
    files.index = open(weights);
    for (const std::string& file : ShardIndex::read(*files.index).files()) {
      files.model.push_back(open(file));
    }
  } else {
    for (const std::string& part : gguf_part_names(weights)) files.model.push_back(open(part));
  }
  return files;
}

std::vector<std::string> find_checkpoints(const std::string& path, bool with_steps,
                                          const SkippedFolder& skipped) {
  std::error_code error;
  if (!fs::is_directory(path, error) || holds_weights(path)) return {path};
  std::vector<std::string> paths;
  std::vector<FormatError> failures;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    try {
      const bool is_step = with_steps && is_step_folder(entry);
      if (is_step || (entry.is_directory(error) && holds_weights(entry.path()))) {
        paths.push_back(entry.path().string());
      }
    } catch (const FormatError& failure) {
      failures.push_back(failure);
    }
  }
  if (!failures.empty() && (paths.empty() || !skipped)) throw failures.front();
  for (const FormatError& failure : failures) skipped(failure);
  std::sort(paths.begin(), paths.end());
  return paths.empty() ? std::vector{path} : paths;
}

CheckpointFiles find_files(const std::string& path, const std::string& config_path,
                           bool look_beside) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path != "-") refuse_absent(path, status, error, "there is no such file or folder");
  const fs::path weights = fs::is_directory(status) ? weights_in(path) : fs::path(path);
  CheckpointFiles files = files_of(weights.filename().string(), [&](const std::string& name) {
    return open_source((weights.parent_path() / name).string());
  });
  files.config = find_config(weights, config_path, look_beside);
  return files;
}

Checkpoint open_checkpoint(const std::string& path, const std::string& config_path,
                           bool look_beside) {
  const CheckpointFiles files = find_files(path, config_path, look_beside);
  return {open_tensors(files), read_config(files)};
}

}  // namespace eigenscope
