#include "cli/checkpoint_options.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "checkpoint/numbered_part.h"
#include "checkpoint/open_checkpoint.h"
#include "cli/remote_checkpoint.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

/// Empty where there is none: a stream has nothing beside it.
std::string file_beside(const std::string& model, const char* name) {
  const std::filesystem::path path(model);
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (!folder && !std::filesystem::is_regular_file(path, error)) return "";
  const std::filesystem::path beside = (folder ? path : path.parent_path()) / name;
  return std::filesystem::exists(beside, error) ? beside.string() : "";
}

void note_lone_shard(const std::string& model) {
  const std::optional<NumberedPart> part = numbered_part(model, ".safetensors");
  if (!part || part->count < 2) return;
  std::cerr << "eigenscope: " << model << " is one of " << part->count
            << " parts of a model; its .safetensors.index.json or its folder opens all parts\n";
}

constexpr const char* kModel =
    "a .safetensors, .gguf or PyTorch file, the index of a sharded checkpoint, or a folder with "
    "either; or, read by HTTP ranges, owner/name[@revision][/file] on the Hugging Face Hub or the "
    "URL of a file or index";

/// The files that a text names, which is a path, a name or a URL. The tokenizer is that of a remote checkpoint alone.
RemoteCheckpoint open_model(const std::string& model, const std::string& config, bool look_beside,
                            bool with_tokenizer) {
  std::optional<RemoteCheckpoint> remote =
      open_remote(model, {.config = look_beside && config.empty(), .tokenizer = with_tokenizer});
  if (!remote) return {find_files(model, config, look_beside), nullptr};
  if (!config.empty()) remote->files.config = open_source(config);
  return std::move(*remote);
}

/// The published models of a lab.
std::string default_runs(const Operation& operation) {
  return "docs/models/" + std::string(operation.name);
}

/// The file, or the .safetensors files in the folder, by name. Throws FormatError for a folder without any.
std::vector<File> runs_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {open_source(path)};
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path().string());
  }
  if (found.empty()) throw FormatError(path, "the folder must have .safetensors files");
  std::sort(found.begin(), found.end());
  std::vector<File> files;
  for (const std::string& file : found) files.push_back(open_source(file));
  return files;
}

}  // namespace

std::string only_checkpoint(const std::string& name, const std::vector<std::string>& found) {
  if (found.size() > 1) {
    throw InvalidArgument(
        name, "name one checkpoint",
        "the folder has " + std::to_string(found.size()) + ", such as " + found.front());
  }
  return found.front();
}

void CheckpointOptions::add_to(CLI::App& app, const Operation& operation, bool several) {
  any_ = has_field(operation, "model");
  if (has_field(operation, "runs")) {
    runs_ = {default_runs(operation)};
    refuse_empty(app.add_option("RUNS", runs_,
                                "checkpoints of `eigenscope train`, or folders of them; default: "
                                "the published ones in " +
                                    default_runs(operation)));
  }
  text_ = has_field(operation, "tokenizer");
  if (!any_) return;
  CLI::Option* const model = app.add_option(
      "MODEL", models_,
      several ? std::string(kModel) + ", or a folder of such folders; several are allowed"
              : kModel);
  refuse_empty(model->required());
  if (!several) model->expected(1);
  refuse_empty(
      app.add_option("--config", config_, "config.json; default: the one beside the weights"));
  if (has_field(operation, "changed")) {
    refuse_empty(
        app.add_option("--changed", changed_, "checkpoint to compare with MODEL, given as MODEL is")
            ->required());
    refuse_empty(app.add_option(
        "--changed-config", changed_config_,
        "config.json of --changed; default: the one beside its weights, else that of MODEL"));
  }
  if (!text_) return;
  refuse_empty(app.add_option("--tokenizer", tokenizer_,
                              "tokenizer.json; default: the one beside the weights"));
}

std::vector<std::string> CheckpointOptions::paths() const {
  std::vector<std::string> found;
  for (const std::string& path : models_) {
    for (std::string& checkpoint : find_checkpoints(path)) found.push_back(std::move(checkpoint));
  }
  if (!config_.empty() && found.size() > 1) {
    throw InvalidArgument("config", "be given with one checkpoint only",
                          "found " + std::to_string(found.size()));
  }
  return found;
}

void CheckpointOptions::give(TypedFields::Reader& reader, const std::string& path,
                             bool look_beside) const {
  const bool with_tokenizer = text_ && tokenizer_.empty();
  RemoteCheckpoint opened = open_model(path, config_, look_beside, with_tokenizer);
  CheckpointFiles& files = opened.files;
  if (!files.index) note_lone_shard(path);
  reader.files["model"] = std::move(files.model);
  if (files.index) reader.files["index"] = {files.index};
  if (files.config) reader.files["config"] = {files.config};
  if (!changed_.empty()) {
    const std::string other = only_checkpoint("changed", find_checkpoints(changed_));
    CheckpointFiles changed =
        open_model(other, changed_config_, /*look_beside=*/true, /*with_tokenizer=*/false).files;
    reader.files["changed"] = std::move(changed.model);
    if (changed.index) reader.files["changed_index"] = {changed.index};
    if (changed.config) reader.files["changed_config"] = {changed.config};
  }
  if (!text_) return;
  if (!tokenizer_.empty()) opened.tokenizer = open_source(tokenizer_);
  if (opened.tokenizer) {
    reader.files["tokenizer"] = {opened.tokenizer};
  } else if (const std::string beside = file_beside(path, "tokenizer.json"); !beside.empty()) {
    reader.files["tokenizer"] = {open_source(beside)};
  }
}

void CheckpointOptions::give(TypedFields::Reader& reader) const {
  for (const std::string& path : runs_) {
    for (File& file : runs_at(path)) reader.files["runs"].push_back(std::move(file));
  }
  if (any_) give(reader, only_checkpoint("MODEL", paths()));
}

}  // namespace eigenscope::cli
