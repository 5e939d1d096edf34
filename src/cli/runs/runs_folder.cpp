#include "cli/runs/runs_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/inputs.h"
#include "cli/output.h"
#include "io/replace_file.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";

/// True for the temporary file of a run that a killed process left half written.
bool is_leftover(const fs::path& path) {
  static constexpr std::string_view kWritten[] = {
      "table.json", "table.csv",         "config.json",         "tokenizer.json",
      "log.csv",    "model.safetensors", "weights.safetensors", "log.jsonl"};
  const std::string name = path.filename().string();
  return std::find(std::begin(kWritten), std::end(kWritten), replaced_name(name)) !=
         std::end(kWritten);
}

void remove_leftovers(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_leftover(entry->path())) leftovers.push_back(entry->path());
  }
  for (const fs::path& path : leftovers) fs::remove(path, error);
}

/// A file in the folder that is neither the lock of a training nor a leftover; nothing if there is none.
std::optional<fs::path> any_file_in(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() != kLock && !is_leftover(entry.path())) return entry.path();
  }
  return std::nullopt;
}

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on host " + host.data();
}

/// Process and host of the holder of the lock, as written by lock_of.
std::string holder_of(int lock) {
  std::array<char, 320> text{};
  const ssize_t count = ::pread(lock, text.data(), text.size() - 1, 0);
  return count > 0 ? std::string(text.data()) : "another process";
}

int lock_of(const std::string& path) {
  const std::string file = path + "/" + kLock;
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) {
    throw FormatError(file, "it cannot be written: " + std::generic_category().message(errno));
  }
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
    const std::string holder = this_process();
    const bool written =
        ::ftruncate(lock, 0) == 0 && ::pwrite(lock, holder.data(), holder.size(), 0) > 0;
    static_cast<void>(written);  // only a message would name it
    return lock;
  }
  if (errno == EWOULDBLOCK) {
    const std::string holder = holder_of(lock);
    ::close(lock);
    throw InvalidArgument("out", "name a folder without another training unless --grid is given",
                          holder + " trains in " + path);
  }
  note(path + ": its file system has no locks (" + std::generic_category().message(errno) +
       "); a second training in this folder is not detected");
  return lock;
}

}  // namespace

RunsFolder::RunsFolder(const std::string& path, bool resume) {
  make_folder(path);
  std::error_code error;
  // A folder without the lock of a training is refused before it gets one.
  const auto files_there = [&] { return resume ? std::nullopt : any_file_in(path); };
  std::optional<fs::path> file =
      fs::exists(fs::path(path) / kLock, error) ? std::nullopt : files_there();
  if (!file) {
    lock_ = lock_of(path);
    file = files_there();
    if (!file) {
      remove_leftovers(path);
      return;
    }
    ::close(lock_);
  }
  throw InvalidArgument("out", "name a new or empty folder unless --resume is given",
                        path + " has " + file->lexically_relative(path).string());
}

RunsFolder::~RunsFolder() { ::close(lock_); }

void check_replaces(const std::string& path, const Json& results) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return;
  const Json old = read_json(read_text(path));
  const Json& experiment = results.at("experiment");
  const bool same = old.is_object() && old.value("experiment", Json()) == experiment &&
                    old.value("cells", Json()).is_array();
  if (!same) {
    throw InvalidArgument(
        "out", "name a new file or one with results of the experiment " + write_json(experiment),
        path + " has other content");
  }
  std::set<std::string> kept;
  for (const Json& cell : old.at("cells")) {
    if (cell.is_object() && cell.value("id", Json()).is_string()) {
      kept.insert(cell.at("id").get<std::string>());
    }
  }
  for (const Json& id : results.at("missing")) {
    if (!kept.contains(id.get<std::string>())) continue;
    throw InvalidArgument("out", "name a file without results that --cells lacks",
                          path + " has " + id.get<std::string>());
  }
}

}  // namespace eigenscope::cli
