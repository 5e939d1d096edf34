#include "cli/remote/http.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "support/error.h"
#include "support/parameter.h"

#ifdef EIGENSCOPE_HAS_CURL
#include <curl/curl.h>
#endif

namespace eigenscope::cli {

std::string shown_url(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

std::string host_of(const std::string& url) {
  const std::size_t start = url.find("://") + 3;
  return url.substr(start, url.find_first_of("/?#", start) - start);
}

#ifndef EIGENSCOPE_HAS_CURL

struct Http::Connection {};

Http::Http(const std::string& url) {
  throw FormatError(
      shown_url(url),
      "this build of eigenscope cannot request it, because CMake did not find libcurl "
      "(Debian package libcurl4-openssl-dev); download the model and open its folder");
}
Http::~Http() = default;
HttpAnswer Http::get(const HttpRequest&) { return {}; }

#else

namespace {

constexpr long kSlowest = 1000;  // bytes a second
constexpr long kMostRedirects = 8;
constexpr int kAttempts = 3;
constexpr const char* kTimeoutVariable = "HF_HUB_DOWNLOAD_TIMEOUT";
constexpr Parameter kTimeout{kTimeoutVariable, integers(1, 3600), 30,
                             "seconds that a host may be silent"};

long seconds_of_patience() {
  const char* const text = std::getenv(kTimeoutVariable);
  const bool is_given = text != nullptr && *text != '\0';
  return static_cast<long>(is_given ? parse_parameter(kTimeout, text) : kTimeout.default_value);
}

bool is_temporary(long status) { return status == 408 || status == 429 || status >= 500; }

/// An attempt: what arrives, and what it must not exceed.
struct Transfer {
  CURL* curl;
  const HttpRequest& request;
  HttpAnswer answer;
  bool has_excess = false;

  long expected_status() const { return request.range ? 206 : 200; }
  std::uint64_t largest() const {
    return request.range ? request.range->last - request.range->first + 1 : request.largest;
  }
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::size_t take_header(const char* line, std::size_t one, std::size_t count, void* transfer) {
  auto& headers = static_cast<Transfer*>(transfer)->answer.headers;
  const std::string_view text(line, one * count);
  const std::size_t colon = text.find(':');
  if (text.starts_with("HTTP/")) headers.clear();  // those of a redirect
  if (colon != std::string_view::npos) {
    headers[lower_case(std::string(text.substr(0, colon)))] = trimmed(text.substr(colon + 1));
  }
  return text.size();
}

std::size_t take_body(const char* bytes, std::size_t one, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  long status = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != transfer.expected_status()) return 0;  // ends the transfer
  transfer.has_excess = transfer.answer.body.size() + one * count > transfer.largest();
  if (transfer.has_excess) return 0;
  transfer.answer.body.append(bytes, one * count);
  return one * count;
}

}  // namespace

struct Http::Connection {
  Connection() : timeout(seconds_of_patience()) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started == CURLE_OK) curl = curl_easy_init();
    if (curl == nullptr) throw std::bad_alloc();
  }
  ~Connection() { curl_easy_cleanup(curl); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Nothing where the attempt succeeded, else why it failed.
  std::string attempt(const HttpRequest& request, HttpAnswer& answer, long& pause);
  void prepare(Transfer& transfer);

  CURL* curl = nullptr;
  long timeout;
  std::string range;
  char error[CURL_ERROR_SIZE] = "";
};

void Http::Connection::prepare(Transfer& transfer) {
  const HttpRequest& request = transfer.request;
  curl_easy_reset(curl);  // keeps the connection
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "eigenscope/" EIGENSCOPE_VERSION);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMostRedirects);
  const bool is_safe = request.url.starts_with("https://");
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, is_safe ? "https" : "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS,
                   is_safe ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowest);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, timeout);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  if (!request.token.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, request.token.c_str());
  }
  if (request.range) {
    range = std::to_string(request.range->first) + "-" + std::to_string(request.range->last);
    curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  }
}

std::string Http::Connection::attempt(const HttpRequest& request, HttpAnswer& answer, long& pause) {
  Transfer transfer{curl, request, {}};
  if (request.range) transfer.answer.body.reserve(transfer.largest());
  prepare(transfer);
  error[0] = '\0';
  const CURLcode code = curl_easy_perform(curl);
  answer = std::move(transfer.answer);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  const char* effective = nullptr;
  curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &effective);
  answer.url = effective == nullptr ? request.url : effective;
  curl_off_t asked = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &asked);
  constexpr curl_off_t kLongestPause = 60;
  pause = static_cast<long>(std::min(asked, kLongestPause));
  if (transfer.has_excess) {
    throw FormatError(request.name, "the host must send at most " +
                                        std::to_string(transfer.largest()) +
                                        " bytes, but sends more");
  }
  const bool has_status = answer.status != 0 && answer.status != transfer.expected_status();
  if (has_status && (code == CURLE_OK || code == CURLE_WRITE_ERROR)) {
    return is_temporary(answer.status)
               ? "its host answers with status " + std::to_string(answer.status)
               : "";
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return "its host " + host_of(answer.url) + " does not answer, or sends less than " +
           std::to_string(kSlowest) + " bytes a second for " + std::to_string(timeout) + " s";
  }
  if (code != CURLE_OK) {
    return "the request to " + host_of(answer.url) +
           " failed: " + (error[0] == '\0' ? curl_easy_strerror(code) : trimmed(error));
  }
  if (request.range && answer.body.size() != transfer.largest()) {
    return "its host sent " + std::to_string(answer.body.size()) + " of " +
           std::to_string(transfer.largest()) + " bytes";
  }
  return "";
}

Http::Http(const std::string&) : connection_(std::make_unique<Connection>()) {}
Http::~Http() = default;

HttpAnswer Http::get(const HttpRequest& request) {
  std::chrono::milliseconds wait(500);
  for (int attempt = 1;; ++attempt) {
    HttpAnswer answer;
    long pause = 0;
    const std::string failure = connection_->attempt(request, answer, pause);
    if (failure.empty()) return answer;
    if (attempt == kAttempts) {
      throw FormatError(request.name,
                        failure + "; requested " + std::to_string(kAttempts) + " times");
    }
    std::this_thread::sleep_for(
        std::max<std::chrono::milliseconds>(wait, std::chrono::seconds(pause)));
    wait *= 4;
  }
}

#endif

}  // namespace eigenscope::cli
