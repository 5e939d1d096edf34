#include "picture/picture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

[[noreturn]] void refuse(const std::string& found) {
  throw InvalidArgument("image", "be binary PPM pictures (P6, 8 bits)", found);
}

/// The numbers of a header, which space and comments separate.
class HeaderReader {
 public:
  explicit HeaderReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void read_magic() {
    if (next() == 'P' && next() == '6') return;
    refuse("picture " + std::to_string(pictures_ + 1) + " begins with other bytes");
  }
  std::uint64_t read_number() {
    char c = next();
    while (is_space(c) || c == '#') {
      if (c == '#') {
        while (next() != '\n') {
        }
      }
      c = next();
    }
    std::uint64_t number = 0;
    for (; c >= '0' && c <= '9'; c = next()) {
      number = std::min<std::uint64_t>(10 * number + static_cast<std::uint64_t>(c - '0'), kMost);
    }
    if (!is_space(c)) refuse("a header with other characters than digits");
    return number;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (bytes_.size() < count) {
      refuse("a truncated picture: " + std::to_string(bytes_.size()) + " of " +
             std::to_string(count) + " bytes");
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    ++pictures_;
    return taken;
  }
  bool done() const { return bytes_.empty(); }

 private:
  static constexpr std::uint64_t kMost = 1'000'000'000;
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  char next() {
    if (bytes_.empty()) refuse("a truncated header");
    const char c = static_cast<char>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return c;
  }

  std::span<const std::byte> bytes_;
  int pictures_ = 0;
};

}  // namespace

void check_size(std::uint64_t width, std::uint64_t height, Index most) {
  if (width >= 1 && height >= 1 && height <= static_cast<std::uint64_t>(most) / width) return;
  throw InvalidArgument("image", "have from 1 to " + std::to_string(most) + " pixels",
                        "found " + std::to_string(width) + " x " + std::to_string(height));
}

std::vector<Picture> read_ppm(std::span<const std::byte> bytes) {
  std::vector<Picture> pictures;
  for (HeaderReader reader(bytes); !reader.done();) {
    reader.read_magic();
    const std::uint64_t width = reader.read_number(), height = reader.read_number();
    const std::uint64_t maximum = reader.read_number();
    check_size(width, height);
    if (maximum != 255) refuse("the maximum " + std::to_string(maximum));
    const auto values = reader.take(static_cast<std::size_t>(3 * width * height));
    Picture picture{static_cast<Index>(width), static_cast<Index>(height), {}};
    picture.rgb.resize(values.size());
    std::transform(values.begin(), values.end(), picture.rgb.begin(),
                   [](std::byte value) { return std::to_integer<std::uint8_t>(value); });
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

void append_ppm(const Picture& picture, std::vector<std::byte>& bytes) {
  const std::string header =
      "P6\n" + std::to_string(picture.width) + " " + std::to_string(picture.height) + "\n255\n";
  const auto append = [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  append(std::as_bytes(std::span(header)));
  append(std::as_bytes(std::span(picture.rgb)));
}

}  // namespace eigenscope
