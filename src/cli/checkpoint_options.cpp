#include "cli/checkpoint_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "checkpoint/numbered_part.h"
#include "checkpoint/open_checkpoint.h"
#include "checkpoint/shard_index.h"
#include "cli/output.h"
#include "cli/remote/remote_checkpoint.h"
#include "cli/runs/steps.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

/// Empty where there is none: a stream has nothing beside it.
std::string file_beside(const std::string& model, const std::string& name) {
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
  note(model + " is one of " + std::to_string(part->count) +
       " parts of a model; its .safetensors.index.json or its folder opens all parts");
}

constexpr const char* kModel =
    "a .safetensors, .gguf or PyTorch file, the index of a sharded checkpoint or a folder with "
    "either; or owner/name[@revision][/file] on the Hugging Face Hub or the URL of a file or "
    "index, read by HTTP ranges";
constexpr const char* kSeveral =
    "; several are allowed, also in folders of folders and as owner/name@revision,revision,...";

/// Files beside the weights that some operations have fields for.
struct SideFile {
  FieldSource source;
  const char* option;
  const char* name;
};
constexpr std::array kSideFiles{
    SideFile{FieldSource::tokenizer, "--tokenizer", "tokenizer.json"},
    SideFile{FieldSource::preprocessor, "--preprocessor", "preprocessor_config.json"},
    SideFile{FieldSource::trainer_state, "--trainer-state", "trainer_state.json"}};

/// The files that a text names, which is a path, a name or a URL. Files `beside` the weights are those of a remote
/// checkpoint alone.
RemoteCheckpoint open_model(const std::string& model, const std::string& config,
                            std::set<std::string> beside) {
  if (config.empty()) beside.insert("config.json");
  std::optional<RemoteCheckpoint> remote = open_remote(model, beside);
  RemoteCheckpoint checkpoint;
  if (remote) {
    checkpoint = std::move(*remote);
    if (!config.empty()) checkpoint.files.config = open_source(config);
  } else {
    checkpoint.files = find_files(model, config);
    std::error_code error;
    if (std::filesystem::is_directory(model, error)) {
      const std::string weights = file_name(checkpoint.files.model.front()->name());
      checkpoint.adapter = adapter_beside(
          weights, [&](const std::string& name) { return !file_beside(model, name).empty(); });
    }
  }
  if (!checkpoint.adapter.empty())
    note(model + ": left out the adapter in it (" + checkpoint.adapter +
         "), without which the model is read");
  return checkpoint;
}

/// The checkpoint of a training run in its folder, beside which there may be copies of its weights.
constexpr const char* kRun = "model.safetensors";

/// The published models of a lab.
std::string default_runs(const Operation& operation) {
  return "web/models/" + std::string(operation.name);
}

/// The file, or the checkpoint of the training run in the folder; or else the .safetensors files in it, by name; or,
/// where it has none, the checkpoints of the training runs in its folders. Throws FormatError for a folder without any.
std::vector<File> runs_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {open_source(path)};
  const std::filesystem::path checkpoint = std::filesystem::path(path) / kRun;
  if (std::filesystem::exists(checkpoint, error)) return {open_source(checkpoint.string())};
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path().string());
  }
  if (paths.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      const std::filesystem::path run = entry.path() / kRun;
      if (std::filesystem::exists(run, error)) paths.push_back(run.string());
    }
  }
  if (paths.empty()) throw FormatError(path, "the folder must have .safetensors files");
  std::sort(paths.begin(), paths.end());
  std::vector<File> files;
  for (const std::string& file : paths) files.push_back(open_source(file));
  return files;
}

}  // namespace

std::string only_checkpoint(const std::string& name, const std::vector<std::string>& checkpoints) {
  if (checkpoints.size() > 1) {
    throw InvalidArgument(name, "name one checkpoint",
                          "the folder has " + std::to_string(checkpoints.size()) + ", such as " +
                              checkpoints.front());
  }
  return checkpoints.front();
}

void CheckpointOptions::add_to(CLI::App& app, const Operation& operation, bool several) {
  any_ = reads_from(operation, FieldSource::model);
  if (reads_from(operation, FieldSource::runs)) {
    runs_ = {default_runs(operation)};
    refuse_empty(app.add_option("RUNS", runs_,
                                "checkpoints of `eigenscope train`, or folders of them; default: "
                                "the published ones in " +
                                    default_runs(operation)));
  }
  if (!any_) return;
  several_ = several;
  CLI::Option* const model =
      app.add_option("MODEL", models_, several ? std::string(kModel) + kSeveral : kModel);
  refuse_empty(model->required());
  if (!several) model->expected(1);
  refuse_empty(
      app.add_option("--config", config_, "config.json; default: the one beside the weights"));
  if (reads_from(operation, FieldSource::changed)) {
    refuse_empty(
        app.add_option("--changed", changed_, "checkpoint to compare with MODEL, given as MODEL is")
            ->required());
    refuse_empty(app.add_option(
        "--changed-config", changed_config_,
        "config.json of --changed; default: the one beside its weights, else that of MODEL"));
  }
  for (const SideFile& side : kSideFiles) {
    if (!reads_from(operation, side.source)) continue;
    refuse_empty(app.add_option(side.option, side_paths_[side.source],
                                std::string(side.name) + "; default: the one beside the weights"));
  }
}

std::vector<std::string> CheckpointOptions::paths() const {
  std::vector<std::string> checkpoints;
  for (const std::string& model : models_) {
    for (const std::string& path : each_revision(model)) {
      const auto skipped = [](const FormatError& failure) {
        note(std::string(failure.what()) + "; the folder is left out");
      };
      for (std::string& one : find_checkpoints(path, several_, skipped))
        checkpoints.push_back(std::move(one));
    }
  }
  const auto state = side_paths_.find(FieldSource::trainer_state);
  const bool has_state = state != side_paths_.end() && !state->second.empty();
  if ((has_state || !config_.empty()) && checkpoints.size() > 1) {
    throw InvalidArgument(has_state ? "trainer_state" : "config",
                          "be given with one checkpoint only",
                          "found " + std::to_string(checkpoints.size()));
  }
  return in_step_order(checkpoints);
}

bool CheckpointOptions::names(const std::string& path) const {
  return std::find(models_.begin(), models_.end(), path) != models_.end();
}

void CheckpointOptions::give(TypedFields::Reader& reader, const std::string& path) const {
  // Text needs the tokenizer, pictures the preprocessor.
  const auto is_used = [&](const SideFile& side) {
    return side_paths_.contains(side.source) &&
           (side.source == FieldSource::trainer_state ||
            reader.given_pictures() == (side.source == FieldSource::preprocessor));
  };
  reader.folder = checkpoint_name(path).name;
  std::set<std::string> beside;
  for (const SideFile& side : kSideFiles) {
    if (is_used(side) && side_paths_.at(side.source).empty()) beside.insert(side.name);
  }
  RemoteCheckpoint opened = open_model(path, config_, beside);
  CheckpointFiles& files = opened.files;
  if (!files.index) note_lone_shard(path);
  reader.files[FieldSource::model] = std::move(files.model);
  if (files.index) reader.files[FieldSource::model_index] = {files.index};
  if (files.config) reader.files[FieldSource::model_config] = {files.config};
  if (!changed_.empty()) {
    const std::string other = only_checkpoint("changed", find_checkpoints(changed_));
    CheckpointFiles changed = open_model(other, changed_config_, /*beside=*/{}).files;
    reader.files[FieldSource::changed] = std::move(changed.model);
    if (changed.index) reader.files[FieldSource::changed_index] = {changed.index};
    if (changed.config) reader.files[FieldSource::changed_config] = {changed.config};
  }
  for (const SideFile& side : kSideFiles) {
    if (!is_used(side)) continue;
    std::string side_path = side_paths_.at(side.source);
    if (side_path.empty() && opened.beside.contains(side.name)) {
      reader.files[side.source] = {opened.beside.at(side.name)};
      continue;
    }
    if (side_path.empty()) side_path = file_beside(path, side.name);
    if (!side_path.empty()) reader.files[side.source] = {open_source(side_path)};
  }
}

void CheckpointOptions::give(TypedFields::Reader& reader) const {
  for (const std::string& path : runs_) {
    for (File& file : runs_at(path)) reader.files[FieldSource::runs].push_back(std::move(file));
  }
  if (any_) give(reader, only_checkpoint("MODEL", paths()));
}

}  // namespace eigenscope::cli
