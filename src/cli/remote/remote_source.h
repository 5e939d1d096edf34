// The bytes of a file on another host, by HTTP ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/remote/http.h"
#include "io/byte_source.h"

namespace eigenscope::cli {

/// The message about a status that is not that of success; the answer has its headers.
using StatusText = std::function<std::string(const HttpAnswer&)>;

/// A file of a host.
struct RemoteFile {
  std::string url;
  std::string name;  ///< for messages; ends with a slash and the file's name
  std::string token;
  StatusText status_text;
};

/// "its host answers with status 404".
std::string plain_status(const HttpAnswer& answer);

/// A file to be read by ranges. Ranges of 256 KiB and more are requested as they are; smaller ones come from blocks of
/// that size, of which the last 128 MiB are kept. A read throws FormatError as Http does, for a status other than 206,
/// and when ETag, Last-Modified or size differ from those of the first answer.
class RemoteSource final : public ByteSource {
 public:
  /// Requests the first byte, which tells whether there are ranges, and the size. Throws FormatError when there are
  /// none.
  explicit RemoteSource(const RemoteFile& file);

 private:
  struct Opened {
    std::unique_ptr<Http> http;
    HttpAnswer first;
    std::uint64_t size;
  };
  static Opened open(const RemoteFile& file);
  RemoteSource(const RemoteFile& file, Opened opened);

  void read_exactly(std::uint64_t offset, std::span<std::byte> out) override;
  std::string request(std::uint64_t offset, std::uint64_t length);
  const std::string& block(std::uint64_t place);
  void check_version(const HttpAnswer& now) const;

  RemoteFile file_;
  std::unique_ptr<Http> http_;
  HttpAnswer first_;
  std::string located_;  // address after redirects; signed addresses expire
  struct Block {
    std::string bytes;
    std::list<std::uint64_t>::iterator use;
  };
  std::map<std::uint64_t, Block> blocks_;
  std::list<std::uint64_t> used_;  // the one used last is last
};

/// All of a small file, of at most `largest` bytes; null for a status of `absent`. Throws FormatError as Http does and
/// for another status.
std::shared_ptr<ByteSource> fetch_file(const RemoteFile& file, std::uint64_t largest,
                                       const std::vector<long>& absent = {});

}  // namespace eigenscope::cli
