#include "io/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "support/error.h"

namespace eigenscope {
namespace {

[[noreturn]] void refuse_writing(const std::string& path) {
  throw FormatError(path, "it cannot be written: " + std::generic_category().message(errno));
}

// A file of nobody else's beside `path`. Processes of several machines or containers that share a folder may
// have the same number, so that the name is drawn, and one that is taken is drawn anew.
struct Beside {
  std::string path;
  int file;
};
Beside create_beside(const std::string& path) {
  std::random_device random;
  for (;;) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, ".new-%08x", static_cast<unsigned>(random()));
    const std::string own = path + suffix;
    const int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return {own, file};
    if (errno != EEXIST) refuse_writing(path);
  }
}

void write_whole(int file, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse_writing(path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  if (::fsync(file) != 0) refuse_writing(path);
}

}  // namespace

void replace_file(const std::string& path, std::span<const std::byte> bytes) {
  const auto [beside, file] = create_beside(path);
  try {
    write_whole(file, path, bytes);
  } catch (...) {
    ::close(file);
    ::unlink(beside.c_str());
    throw;
  }
  ::close(file);
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  // Another process that has finished the same cell may have cleared the file away.
  if (error && error != std::errc::no_such_file_or_directory) {
    throw FormatError(path, "it cannot be replaced: " + error.message());
  }
}

void replace_file(const std::string& path, const std::string& text) {
  replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace eigenscope
