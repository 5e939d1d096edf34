// Requests to a host: GET with redirects, byte ranges, time limits and retries, by libcurl.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace eigenscope::cli {

struct HttpRequest {
  std::string name;  ///< name of the file in messages
  std::string url;   ///< http:// or https://
  /// Bearer token, sent to no other host than that of `url`; empty for none.
  std::string token;
  /// The first and the last requested byte; nothing for the whole file.
  struct Range {
    std::uint64_t first, last;
  };
  std::optional<Range> range;
  std::uint64_t largest = 0;  ///< bytes of the body, for a request without a range
};

/// The last answer, after redirects. The body is that of a status of success (206 where a range was requested, else
/// 200); others are not received.
struct HttpAnswer {
  long status = 0;
  std::string body;
  std::string url;                             ///< address that answered
  std::map<std::string, std::string> headers;  ///< by their names in lower case
};

/// A URL as messages and file names have it: without the query, which may hold a key.
std::string shown_url(const std::string& url);

/// "huggingface.co" of "https://huggingface.co/owner/name".
std::string host_of(const std::string& url);

/// Makes requests one after another over one connection where the host allows it. Not for several threads at once.
class Http {
 public:
  /// Throws FormatError in a build without libcurl, naming `url`; InvalidArgument for an HF_HUB_DOWNLOAD_TIMEOUT that
  /// is not an integer in [1, 3600].
  explicit Http(const std::string& url);
  ~Http();

  /// A host that does not answer, breaks off, or has a temporary failure (408, 429, 5xx) is asked three times in all,
  /// with a pause between them. Throws FormatError, naming the file and the reason, when it still does not answer or
  /// has sent less than 1 kB/s for HF_HUB_DOWNLOAD_TIMEOUT seconds (30 by default), and for a body above the largest.
  HttpAnswer get(const HttpRequest& request);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace eigenscope::cli
