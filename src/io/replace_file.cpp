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

constexpr std::string_view kMark = ".new-";
constexpr std::size_t kDigits = 8;

[[noreturn]] void refuse_writing(const std::string& path) {
  throw FormatError(path, "it cannot be written: " + std::generic_category().message(errno));
}

// A new file beside `path`. Its name is random, and drawn again where it is taken: processes of several machines or
// containers that share a folder may have the same process id.
struct Beside {
  std::string path;
  int file;
};
Beside create_beside(const std::string& path) {
  std::random_device random;
  for (;;) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(random()));
    const std::string name = path + std::string(kMark) + digits;
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return {name, file};
    if (errno != EEXIST) refuse_writing(path);
  }
}

void write_all(int file, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse_writing(path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// A pipe or a device cannot be replaced by a file: /dev/stdout, /dev/null.
void write_to_stream(const std::string& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) refuse_writing(path);
  try {
    write_all(file, path, bytes);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
}

// The target of a symbolic link, so that the file is replaced and not the link.
std::string target_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

void replace_file(const std::string& link, std::span<const std::byte> bytes) {
  std::error_code status_error;
  const std::filesystem::file_status status = std::filesystem::status(link, status_error);
  if (std::filesystem::is_other(status)) return write_to_stream(link, bytes);
  if (std::filesystem::is_directory(status)) {
    throw FormatError(link, "it must be a file, but it is a folder");
  }
  const std::string path = target_of(link);
  const auto [beside, file] = create_beside(path);
  try {
    write_all(file, path, bytes);
    if (::fsync(file) != 0) refuse_writing(path);
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

std::string_view replaced_name(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view digits = name.substr(mark + kMark.size());
  // Earlier versions drew fewer digits.
  const bool is_drawn = !digits.empty() && digits.size() <= kDigits &&
                        digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_drawn ? name.substr(0, mark) : std::string_view();
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw FormatError(path, "the folder cannot be created: " + error.message());
}

}  // namespace eigenscope
