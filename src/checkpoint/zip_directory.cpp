#include "checkpoint/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using std::literals::operator""sv;

constexpr std::string_view kEnd = "PK\x05\x06"sv, kEnd64 = "PK\x06\x06"sv,
                           kLocator64 = "PK\x06\x07"sv;
constexpr std::string_view kEntry = "PK\x01\x02"sv, kLocal = "PK\x03\x04"sv;
constexpr std::size_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kEntryBytes = 46,
                      kLocalBytes = 30;
constexpr std::uint64_t kEncrypted = 1;  // of an entry's flags
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint64_t kLargestDirectory = 100'000'000;
constexpr std::uint64_t kInExtra = 0xffffffff;  // the number is in the record for large files

template <class Number>
std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  Number value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
std::uint64_t u16(std::string_view bytes, std::size_t at) {
  return number_at<std::uint16_t>(bytes, at);
}
std::uint64_t u32(std::string_view bytes, std::size_t at) {
  return number_at<std::uint32_t>(bytes, at);
}
std::uint64_t u64(std::string_view bytes, std::size_t at) {
  return number_at<std::uint64_t>(bytes, at);
}

struct Place {
  std::uint64_t offset, size;
};

/// The place of the directory, from the record at the end of the archive.
Place directory_of(ByteSource& archive) {
  const std::uint64_t count = std::min<std::uint64_t>(archive.size(), kEndBytes + kLongestComment);
  const std::string tail = archive.text_at(archive.size() - count, count);
  const std::size_t end = tail.rfind(kEnd);
  if (end == std::string::npos || tail.size() - end < kEndBytes) {
    throw FormatError(archive.name(),
                      "it must end with the directory of a ZIP archive; is the file cut off?");
  }
  const Place place{u32(tail, end + 16), u32(tail, end + 12)};
  if (place.offset != kInExtra && place.size != kInExtra) return place;
  if (end < kLocatorBytes || tail.compare(end - kLocatorBytes, kLocator64.size(), kLocator64) != 0)
    return place;
  const std::string record = archive.text_at(u64(tail, end - kLocatorBytes + 8), kEnd64Bytes);
  if (!record.starts_with(kEnd64))
    throw FormatError(archive.name(), "its directory must be where its end says");
  return {u64(record, 48), u64(record, 40)};
}

/// Takes what stands in the record for large files, which has only the numbers that need it.
void take_large(std::string_view extra, ZipDirectory::File& file, std::uint64_t& stored) {
  while (extra.size() >= 4) {
    const std::uint64_t id = u16(extra, 0);
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(u16(extra, 2), extra.size() - 4));
    std::string_view numbers = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != 1) continue;
    for (std::uint64_t* const number : {&file.size, &stored, &file.header}) {
      if (*number != kInExtra || numbers.size() < 8) continue;
      *number = u64(numbers, 0);
      numbers.remove_prefix(8);
    }
  }
}

}  // namespace

ZipDirectory::ZipDirectory(std::shared_ptr<ByteSource> archive) : archive_(std::move(archive)) {
  const auto refuse = [&](const char* message) { throw FormatError(archive_->name(), message); };
  const Place place = directory_of(*archive_);
  if (place.size > kLargestDirectory) refuse("its directory must have at most 100000000 bytes");
  if (place.offset > archive_->size() || place.size > archive_->size() - place.offset)
    refuse("its directory must lie inside it; is the file cut off?");
  const std::string bytes = archive_->text_at(place.offset, place.size);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    if (rest.size() < kEntryBytes || !rest.starts_with(kEntry))
      refuse("its directory must have whole entries");
    const auto name = static_cast<std::size_t>(u16(rest, 28)),
               extra = static_cast<std::size_t>(u16(rest, 30)),
               comment = static_cast<std::size_t>(u16(rest, 32));
    if (rest.size() < kEntryBytes + name + extra + comment)
      refuse("its directory must have whole entries");
    std::uint64_t stored = u32(rest, 20);
    File file{u32(rest, 42), u32(rest, 24), u16(rest, 10) == 0, (u16(rest, 8) & kEncrypted) != 0};
    take_large(rest.substr(kEntryBytes + name, extra), file, stored);
    file.is_stored = file.is_stored && stored == file.size;
    files_.emplace(rest.substr(kEntryBytes, name), file);
    rest.remove_prefix(kEntryBytes + name + extra + comment);
  }
}

std::uint64_t ZipDirectory::begin_of(const std::string& name) const {
  const auto entry = files_.find(name);
  if (entry == files_.end()) refuse_item(name, "it must be in " + archive_->name());
  const File& file = entry->second;
  if (file.is_encrypted) refuse_item(name, "it must not be encrypted in " + archive_->name());
  if (!file.is_stored)
    refuse_item(name, "it must be stored without compression in " + archive_->name());
  const std::string local = archive_->text_at(file.header, kLocalBytes);
  if (!local.starts_with(kLocal)) refuse_item(name, "it must be where the directory says");
  const std::uint64_t begin = file.header + kLocalBytes + u16(local, 26) + u16(local, 28);
  if (begin > archive_->size() || file.size > archive_->size() - begin) {
    refuse_item(name, {"it must lie inside ", archive_->name(), "; is the file cut off?"});
  }
  return begin;
}

}  // namespace eigenscope
