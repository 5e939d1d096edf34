#include "cli/remote/remote_checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/open_checkpoint.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/trainer_state.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/remote/hub.h"
#include "cli/remote/remote_source.h"
#include "support/error.h"
#include "text/tokenizer.h"

namespace eigenscope::cli {
namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"bytes", "kB", "MB", "GB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1000 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.3g %s", size, kUnits[unit]);
  return text.data();
}

/// The folder of a checkpoint on a host; a URL has no commit, and no sizes that are known.
struct Folder : HubFolder {
  std::string shown;  ///< name in messages
  std::string query;  ///< from the question mark on, such as a key: it belongs to every file
  StatusText status_text = plain_status;
  std::vector<long> absent;  ///< statuses of files that need not be there

  RemoteFile file(const std::string& name) const {
    return {url + percent_encoded(name) + query, shown_url(url) + name, token, status_text};
  }
  /// Null for one that the host does not have.
  File fetch(const std::string& name, std::uint64_t largest) const {
    return fetch_file(file(name), largest, absent);
  }
  bool may_have(const std::string& name) const { return sizes.empty() || sizes.contains(name); }
};

Folder hub_folder(const HubModel& model) {
  Folder folder;
  static_cast<HubFolder&>(folder) = find_on_hub(model);
  folder.shown = model.name + " at commit " + folder.commit + " of " + hub_host();
  folder.status_text = [model](const HttpAnswer& answer) { return hub_status(model, answer); };
  return folder;
}

Folder url_folder(const std::string& url) {
  const std::string host = host_of(url);
  if (const std::size_t account = host.find('@'); account != std::string::npos) {
    throw FormatError(host.substr(account + 1),
                      "a URL of a model must not have a user name or a password");
  }
  const std::string path = shown_url(url);
  const std::size_t end = path.rfind('/') + 1;
  if (!is_weights_name(path)) {
    throw FormatError(path, "a URL of a model must end with " + weights_endings());
  }
  Folder folder;
  folder.url = path.substr(0, end);
  folder.shown = folder.url;
  folder.query = url.substr(path.size());
  folder.token = hub_token(url);
  folder.weights = path.substr(end);
  folder.absent = {403, 404};  // hosts of objects answer 403 for one that is not there
  return folder;
}

/// Names what is going to be requested.
void note_requests(const Folder& folder, const CheckpointFiles& files,
                   const std::vector<std::string>& whole) {
  std::uint64_t bytes = 0;
  for (const File& file : files.model) bytes += file->size();
  std::string text = folder.shown + ": ";
  text += files.model.size() == 1 ? file_name(files.model.front()->name())
                                  : std::to_string(files.model.size()) + " files of weights";
  text += " (" + size_text(bytes) + ", only needed parts are requested)";
  for (const std::string& name : whole) {
    const auto size = folder.sizes.find(name);
    text += ", " + name;
    if (size != folder.sizes.end() && size->second > 0)
      text += " (" + size_text(size->second) + ")";
  }
  note(text);
}

/// Throws FormatError for owner/name where a file or folder here is called like the owner: the text is a mistyped path
/// then, not somebody's model.
void check_no_path(const std::string& text, const HubModel& model) {
  const std::string owner = model.name.substr(0, model.name.find('/'));
  std::error_code error;
  if (!std::filesystem::exists(owner, error)) return;
  throw FormatError(text, "it must be a path that exists, for " + owner +
                              " is here: found no such file or folder; a model of an owner of this "
                              "name must be given by its address, " +
                              hub_address(model.name));
}

}  // namespace

bool is_url(const std::string& text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

bool is_path(const std::string& text) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(text, error));
}

std::vector<std::string> each_revision(const std::string& text) {
  const std::size_t at = text.find('@');
  if (is_url(text) || is_path(text) || text.find(',', at) == std::string::npos) return {text};
  const std::size_t end = std::min(text.find('/', at), text.size());
  std::vector<std::string> models;
  for (const std::string& revision : distinct_items("MODEL", text.substr(at + 1, end - at - 1))) {
    models.push_back(text.substr(0, at + 1) + revision + text.substr(end));
  }
  return models;
}

std::optional<RemoteCheckpoint> open_remote(const std::string& model,
                                            const std::set<std::string>& beside) {
  if (is_path(model)) return std::nullopt;
  const std::optional<HubModel> named = hub_model(model);
  if (!named && !is_url(model)) return std::nullopt;
  if (named && !is_url(model)) check_no_path(model, *named);
  const Folder folder = named ? hub_folder(*named) : url_folder(model);

  RemoteCheckpoint checkpoint;
  checkpoint.files = files_of(folder.weights, [&](const std::string& name) -> File {
    if (name.ends_with(".json")) return fetch_file(folder.file(name), ShardIndex::kLargestFile);
    return std::make_shared<RemoteSource>(folder.file(name));
  });
  std::vector<std::string> whole;
  for (const std::string& name : beside) {
    if (folder.may_have(name)) whole.push_back(name);
  }
  note_requests(folder, checkpoint.files, whole);
  if (named && named->file.empty()) {
    checkpoint.adapter = adapter_beside(
        folder.weights, [&](const std::string& name) { return folder.sizes.contains(name); });
  }
  for (const std::string& name : whole) {
    const std::uint64_t largest = name == "tokenizer.json"       ? TextTokenizer::kLargestFile
                                  : name == "trainer_state.json" ? kLargestTrainerState
                                                                 : Config::kLargestFile;
    File file = folder.fetch(name, largest);
    if (!file) continue;
    (name == "config.json" ? checkpoint.files.config : checkpoint.beside[name]) = std::move(file);
  }
  return checkpoint;
}

}  // namespace eigenscope::cli
