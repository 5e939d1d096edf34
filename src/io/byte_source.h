// Random access to the bytes of a file, of memory, or (in the page) of a Blob. Everything above io reads
// ranges through this interface: a large file is never held in memory as a whole, and the bytes that
// were read are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace eigenscope {

/// A named, finite run of bytes with random access. Not copyable; threads read one after another.
/// An implementation gives its name and size to the constructor and overrides `read_exactly`.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Name in messages: a path or a file name.
  const std::string& name() const noexcept { return name_; }
  /// Size in bytes when it was opened.
  std::uint64_t size() const noexcept { return size_; }
  /// Number of bytes that `read` has delivered so far.
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  /// Fills `out` with the bytes from `offset` (in bytes) on. Throws FormatError, naming the
  /// source, when the range does not lie inside it or the bytes cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> out);
  /// The `count` bytes from `offset` on. Throws as read() does.
  std::string text_at(std::uint64_t offset, std::uint64_t count);
  /// All bytes. Throws FormatError also when there are more than `largest`: "it has 12 bytes; `kind`
  /// has at most 10".
  std::string read_text(std::uint64_t largest, const char* kind);

 protected:
  ByteSource(std::string name, std::uint64_t size);

 private:
  /// Fills all of `out`, a non-empty range that lies inside [0, size()), or throws FormatError.
  virtual void read_exactly(std::uint64_t offset, std::span<std::byte> out) = 0;

  std::string name_;
  std::uint64_t size_;
  std::uint64_t bytes_read_ = 0;
  std::mutex reading_;
};

/// A regular file, with 64-bit offsets. A read throws FormatError when the size or the modification time
/// differs from when the file was opened: offsets from its header would point at other data. After a
/// long read the system is asked to prefetch what follows (posix_fadvise), where it can.
class FileSource final : public ByteSource {
 public:
  /// Throws FormatError when `path` is missing, not a regular file, or cannot be opened.
  explicit FileSource(const std::string& path);
  ~FileSource() override;

 private:
  struct Opened {
    std::ifstream stream;
    std::uint64_t size;
    std::filesystem::file_time_type changed;
  };
  static Opened open(const std::string& path);

  FileSource(const std::string& path, Opened opened);
  void read_exactly(std::uint64_t offset, std::span<std::byte> out) override;
  void fetch(std::uint64_t offset, std::uint64_t length) const;

  std::ifstream stream_;
  std::filesystem::file_time_type changed_;
  int descriptor_;  // of the same file, to ask the system to fetch; -1 for none
};

/// Throws FormatError for a path whose status was asked for: `absent` when nothing is there, else why it cannot be
/// read, such as a folder above it without permission.
void refuse_absent(const std::string& path, const std::filesystem::file_status& status,
                   const std::error_code& error, const char* absent);

/// The bytes at `path`. A pipe, a socket or a device is read to its end, and so is standard input, "-". Throws
/// FormatError as FileSource does, and for a stream of more than 1 GB or a device with more than 1 MB.
std::shared_ptr<ByteSource> open_source(const std::string& path);

/// A source of bytes in memory.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::vector<std::byte> bytes);

 private:
  void read_exactly(std::uint64_t offset, std::span<std::byte> out) override;

  std::vector<std::byte> bytes_;
};

}  // namespace eigenscope
