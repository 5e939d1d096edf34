#include "checkpoint/open_checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "support/error.h"

namespace eigenscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".safetensors";
constexpr std::size_t kShownFiles = 5;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::vector<std::string> weight_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == kExtension && is_file(path)) names.push_back(path.filename().string());
  }
  if (error) throw FormatError(folder.string(), "the folder cannot be read");
  std::sort(names.begin(), names.end());
  return names;
}

fs::path weights_in(const fs::path& folder) {
  if (is_file(folder / "model.safetensors")) return folder / "model.safetensors";
  const std::vector<std::string> names = weight_files(folder);
  if (names.size() == 1) return folder / names.front();
  if (names.empty()) throw FormatError(folder.string(), "there is no .safetensors file in it");
  std::string message = "it holds " + std::to_string(names.size()) + " .safetensors files (";
  for (std::size_t i = 0; i < std::min(names.size(), kShownFiles); ++i) {
    message += (i == 0 ? "" : ", ") + names[i];
  }
  message += names.size() > kShownFiles ? ", ...); name one of them" : "); name one of them";
  throw FormatError(folder.string(), message);
}

std::optional<Config> find_config(const fs::path& weights, const std::string& config_path,
                                  bool look_beside) {
  const fs::path beside = weights.parent_path() / "config.json";
  if (config_path.empty() && !(look_beside && is_file(beside))) return std::nullopt;
  FileSource source(config_path.empty() ? beside.string() : config_path);
  return Config::read(source);
}

}  // namespace

Checkpoint open_checkpoint(const std::string& path, const std::string& config_path,
                           bool look_beside) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw FormatError(path, "there is no such file or folder");
  const fs::path weights = fs::is_directory(status) ? weights_in(path) : fs::path(path);
  return {std::make_shared<const Safetensors>(std::make_shared<FileSource>(weights.string())),
          find_config(weights, config_path, look_beside)};
}

}  // namespace eigenscope
