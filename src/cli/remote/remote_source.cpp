#include "cli/remote/remote_source.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "support/error.h"

namespace eigenscope::cli {
namespace {

constexpr std::uint64_t kBlock = 1 << 18;  // a request costs more than what is read too much
constexpr std::uint64_t kKeptBlocks = (1 << 27) / kBlock;

std::string header(const HttpAnswer& answer, const char* name) {
  const auto line = answer.headers.find(name);
  return line == answer.headers.end() ? "" : line->second;
}

/// The size of the file, of "bytes 0-0/1234".
std::optional<std::uint64_t> size_in(const HttpAnswer& answer) {
  const std::string range = header(answer, "content-range");
  const std::size_t slash = range.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const char* const end = range.data() + range.size();
  std::uint64_t size = 0;
  const auto [last, error] = std::from_chars(range.data() + slash + 1, end, size);
  return error == std::errc() && last == end ? std::optional(size) : std::nullopt;
}

bool is_success(long status) { return status == 200 || status == 206; }

}  // namespace

std::string plain_status(const HttpAnswer& answer) {
  return "its host answers with status " + std::to_string(answer.status);
}

RemoteSource::RemoteSource(const RemoteFile& file) : RemoteSource(file, open(file)) {}

RemoteSource::RemoteSource(const RemoteFile& file, Opened opened)
    : ByteSource(file.name, opened.size),
      file_(file),
      http_(std::move(opened.http)),
      first_(std::move(opened.first)),
      located_(first_.url) {}

RemoteSource::Opened RemoteSource::open(const RemoteFile& file) {
  Opened opened{std::make_unique<Http>(file.url), {}, 0};
  opened.first = opened.http->get({file.name, file.url, file.token, HttpRequest::Range{0, 0}});
  if (!is_success(opened.first.status))
    throw FormatError(file.name, file.status_text(opened.first));
  const std::optional<std::uint64_t> size = size_in(opened.first);
  if (opened.first.status != 206 || !size) {
    throw FormatError(file.name,
                      "its host " + host_of(opened.first.url) +
                          " must serve parts of a file with its size (HTTP ranges), but does "
                          "not; download the file");
  }
  opened.size = *size;
  return opened;
}

void RemoteSource::read_exactly(std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() >= kBlock) {
    const std::string bytes = request(offset, out.size());
    std::memcpy(out.data(), bytes.data(), out.size());
    return;
  }
  while (!out.empty()) {
    const std::uint64_t within = offset % kBlock;
    const std::string& bytes = block(offset / kBlock);
    const std::size_t count = std::min<std::size_t>(out.size(), bytes.size() - within);
    std::memcpy(out.data(), bytes.data() + within, count);
    out = out.subspan(count);
    offset += count;
  }
}

const std::string& RemoteSource::block(std::uint64_t place) {
  const auto kept = blocks_.find(place);
  if (kept != blocks_.end()) {
    used_.splice(used_.end(), used_, kept->second.use);
    return kept->second.bytes;
  }
  const std::uint64_t start = place * kBlock;
  std::string bytes = request(start, std::min(kBlock, size() - start));
  if (blocks_.size() == kKeptBlocks) {
    blocks_.erase(used_.front());
    used_.pop_front();
  }
  used_.push_back(place);
  return blocks_.emplace(place, Block{std::move(bytes), std::prev(used_.end())})
      .first->second.bytes;
}

std::string RemoteSource::request(std::uint64_t offset, std::uint64_t length) {
  const HttpRequest::Range range{offset, offset + length - 1};
  const bool is_same_host = host_of(located_) == host_of(file_.url);
  HttpAnswer answer = http_->get({name(), located_, is_same_host ? file_.token : "", range});
  if (answer.status != 206 && located_ != file_.url) {  // the signed address has expired
    answer = http_->get({name(), file_.url, file_.token, range});
    located_ = answer.url;
  }
  if (answer.status != 206)
    throw FormatError(name(), plain_status(answer) + "; was it changed or removed?");
  check_version(answer);
  const std::string expected = "bytes " + std::to_string(range.first) + "-" +
                               std::to_string(range.last) + "/" + std::to_string(size());
  if (header(answer, "content-range") != expected) {
    throw FormatError(name(), "its host must send " + expected + ", but sends '" +
                                  header(answer, "content-range") + "'");
  }
  return std::move(answer.body);
}

void RemoteSource::check_version(const HttpAnswer& now) const {
  for (const char* const field : {"etag", "last-modified"}) {
    const std::string before = header(first_, field), after = header(now, field);
    if (before.empty() || after.empty() || before == after) continue;
    throw FormatError(name(), std::string("it changed while it was read: its ") + field + " was " +
                                  before + " and is " + after);
  }
}

std::shared_ptr<ByteSource> fetch_file(const RemoteFile& file, std::uint64_t largest,
                                       const std::vector<long>& absent) {
  const HttpAnswer answer = Http(file.url).get({file.name, file.url, file.token, {}, largest});
  if (std::find(absent.begin(), absent.end(), answer.status) != absent.end()) return nullptr;
  if (answer.status != 200) throw FormatError(file.name, file.status_text(answer));
  std::vector<std::byte> bytes(answer.body.size());
  std::memcpy(bytes.data(), answer.body.data(), bytes.size());
  return std::make_shared<MemorySource>(file.name, std::move(bytes));
}

}  // namespace eigenscope::cli
