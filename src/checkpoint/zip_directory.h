// The files inside a ZIP archive that are stored as they are, without compression.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "io/byte_source.h"

namespace eigenscope {

/// Reads the directory at the end of an archive, with the records for large files (ZIP64). Source: PKWARE's
/// APPNOTE.TXT, 4.3 and 4.5.
class ZipDirectory {
 public:
  struct File {
    std::uint64_t header = 0;  ///< offset of the file's local header in the archive
    std::uint64_t size = 0;    ///< in bytes
    bool is_stored = false;    ///< without compression
    bool is_encrypted = false;
  };

  /// Throws FormatError naming the archive when it has no directory, or one that does not fit.
  explicit ZipDirectory(std::shared_ptr<ByteSource> archive);

  const std::map<std::string, File>& files() const noexcept { return files_; }
  const std::string& name() const noexcept { return archive_->name(); }

  /// Offset in the archive of a file's first byte. Throws FormatError when the file is compressed or encrypted, or its
  /// bytes do not lie inside the archive.
  std::uint64_t begin_of(const std::string& name) const;
  /// Fills `out` with bytes of a file at `begin`, from begin_of, onwards.
  void read(std::uint64_t begin, std::span<std::byte> out) const { archive_->read(begin, out); }
  std::string text_at(std::uint64_t begin, std::uint64_t count) const {
    return archive_->text_at(begin, count);
  }

 private:
  std::shared_ptr<ByteSource> archive_;
  std::map<std::string, File> files_;
};

}  // namespace eigenscope
