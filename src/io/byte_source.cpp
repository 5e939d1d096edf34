#include "io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

std::uint64_t size_of(std::ifstream& stream, const std::string& path) {
  stream.clear();
  stream.seekg(0, std::ios::end);
  const std::streamoff end = stream.tellg();
  if (end < 0) throw FormatError(path, "its size cannot be read");
  return static_cast<std::uint64_t>(end);
}

/// Throws FormatError with the reason in errno.
[[noreturn]] void refuse_unreadable(const std::string& path) {
  const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
  throw FormatError(path, "it must be a file that can be opened for reading" + reason);
}

// A second way into the file: a stream does not expose its descriptor.
int open_descriptor([[maybe_unused]] const std::string& path) {
#ifdef __linux__
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
#else
  return -1;
#endif
}

constexpr std::size_t kLargestStream = 1'000'000'000;
// Devices such as /dev/zero have no end.
constexpr std::size_t kLargestDevice = 1'000'000;

std::size_t largest_of(int descriptor) {
  struct stat status {};
  const bool is_device = ::fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode);
  return is_device ? kLargestDevice : kLargestStream;
}

std::vector<std::byte> read_stream(int descriptor, const std::string& name) {
  std::vector<std::byte> bytes;
  const std::size_t largest = largest_of(descriptor);
  for (std::size_t size = 0;;) {
    bytes.resize(std::max<std::size_t>(2 * size, 1 << 16));
    const ssize_t count = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw FormatError(name, "it cannot be read: " + std::generic_category().message(errno));
    }
    size += static_cast<std::size_t>(count);
    if (size > largest) {
      throw FormatError(name, "a stream must have at most " + std::to_string(kLargestStream) +
                                  " bytes and a device " + std::to_string(kLargestDevice) +
                                  ", and this one has more; save it as a file");
    }
    if (count > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

}  // namespace

void refuse_absent(const std::string& path, const std::filesystem::file_status& status,
                   const std::error_code& error, const char* absent) {
  if (std::filesystem::exists(status)) return;
  const bool is_absent = status.type() == std::filesystem::file_type::not_found;
  throw FormatError(path, is_absent ? absent : "it cannot be read: " + error.message());
}

ByteSource::ByteSource(std::string name, std::uint64_t size)
    : name_(std::move(name)), size_(size) {}

void ByteSource::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset > size_ || out.size() > size_ - offset) {
    throw FormatError(name_, "it ends at byte " + std::to_string(size_) + ", before the " +
                                 std::to_string(out.size()) + " bytes requested from byte " +
                                 std::to_string(offset) + " on");
  }
  if (out.empty()) return;
  const std::lock_guard lock(reading_);
  read_exactly(offset, out);
  bytes_read_ += out.size();
}

std::string ByteSource::text_at(std::uint64_t offset, std::uint64_t count) {
  std::string text(static_cast<std::size_t>(count), '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string ByteSource::read_text(std::uint64_t largest, const char* kind) {
  if (size_ > largest) {
    throw FormatError(name_, "it has " + std::to_string(size_) + " bytes; " + kind +
                                 " has at most " + std::to_string(largest));
  }
  return text_at(0, size_);
}

FileSource::FileSource(const std::string& path) : FileSource(path, open(path)) {}

FileSource::FileSource(const std::string& path, Opened opened)
    : ByteSource(path, opened.size),
      stream_(std::move(opened.stream)),
      changed_(opened.changed),
      descriptor_(open_descriptor(path)) {}

FileSource::~FileSource() {
#ifdef __linux__
  if (descriptor_ >= 0) ::close(descriptor_);
#endif
}

void FileSource::fetch([[maybe_unused]] std::uint64_t offset,
                       [[maybe_unused]] std::uint64_t length) const {
#ifdef __linux__
  if (descriptor_ < 0) return;
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(length),
                  POSIX_FADV_WILLNEED);
#endif
}

FileSource::Opened FileSource::open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  refuse_absent(path, status, error, "there is no such file");
  // A stream has no ranges, and a directory opens but never reads.
  if (!std::filesystem::is_regular_file(status)) {
    throw FormatError(path, std::filesystem::is_directory(status)
                                ? "it must be a file, but it is a folder"
                                : "it must be a regular file, but it is a stream or a device");
  }
  errno = 0;
  Opened opened{std::ifstream(path, std::ios::binary), 0,
                std::filesystem::last_write_time(path, error)};
  if (!opened.stream) refuse_unreadable(path);
  opened.size = size_of(opened.stream, path);
  return opened;
}

void FileSource::read_exactly(std::uint64_t offset, std::span<std::byte> out) {
  const std::uint64_t now = size_of(stream_, name());
  if (now != size()) {
    throw FormatError(name(), "it changed while it was read, from " + std::to_string(size()) +
                                  " to " + std::to_string(now) + " bytes");
  }
  std::error_code error;
  if (std::filesystem::last_write_time(name(), error) != changed_) {
    throw FormatError(name(), "it changed while it was read: it was written to");
  }
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  const auto got = static_cast<std::size_t>(stream_.gcount());
  if (got != out.size()) {
    throw FormatError(name(), "reading stopped after " + std::to_string(got) + " of " +
                                  std::to_string(out.size()) + " bytes from byte " +
                                  std::to_string(offset) + " on");
  }
  // The next heads of a layer, which lie behind this one in each of its tensors.
  constexpr std::size_t kLong = 1 << 16;
  if (out.size() >= kLong) fetch(offset + out.size(), 2 * out.size());
}

std::shared_ptr<ByteSource> open_source(const std::string& path) {
  if (path == "-") {
    const std::string name = "standard input";
    return std::make_shared<MemorySource>(name, read_stream(STDIN_FILENO, name));
  }
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_other(status)) return std::make_shared<FileSource>(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    refuse_unreadable(path);
  }
  std::vector<std::byte> bytes;
  try {
    bytes = read_stream(descriptor, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  return std::make_shared<MemorySource>(path, std::move(bytes));
}

MemorySource::MemorySource(std::string name, std::vector<std::byte> bytes)
    : ByteSource(std::move(name), bytes.size()), bytes_(std::move(bytes)) {}

void MemorySource::read_exactly(std::uint64_t offset, std::span<std::byte> out) {
  std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

}  // namespace eigenscope
