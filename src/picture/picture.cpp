#include "picture/picture.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

[[noreturn]] void refuse(const std::string& actual) {
  throw InvalidArgument("image", "be binary PPM pictures (P6, 8 bits)", actual);
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

/// Unsigned numbers in bytes.
class Numbers {
 public:
  Numbers(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  /// The number of `size` bytes from `at` on; nothing beyond the end.
  std::optional<std::uint64_t> at(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint64_t k = 0; k < size; ++k) {
      const std::uint64_t place = at + (big_endian_ ? k : size - 1 - k);
      value = value << 8 | static_cast<unsigned char>(bytes_[static_cast<std::size_t>(place)]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_endian_;
};

/// The orientation in [1, 8] in the first directory of EXIF data, which are a TIFF file; 1 without one.
int orientation_of(std::string_view tiff) {
  constexpr std::uint64_t kTag = 0x0112, kEntry = 12, kFirstEntry = 2, kValue = 8;
  const Numbers numbers(tiff, tiff.starts_with("MM"));
  const std::uint64_t directory = numbers.at(4, 4).value_or(tiff.size());
  const std::uint64_t entries = numbers.at(directory, 2).value_or(0);
  for (std::uint64_t k = 0; k < entries; ++k) {
    const std::uint64_t entry = directory + kFirstEntry + k * kEntry;
    if (numbers.at(entry, 2) != kTag) continue;
    const std::uint64_t value = numbers.at(entry + kValue, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

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

int exif_orientation(std::string_view jpeg) {
  constexpr std::uint64_t kApp1 = 0xffe1, kStartOfScan = 0xffda;
  constexpr std::string_view kExif("Exif\0\0", 6);
  const Numbers numbers(jpeg, true);
  std::uint64_t at = 2;  // after the start of the image
  for (;;) {
    const auto marker = numbers.at(at, 2), length = numbers.at(at + 2, 2);
    if (!marker || !length || *marker < 0xff00 || *marker == kStartOfScan) return 1;
    const std::string_view segment =
        jpeg.substr(static_cast<std::size_t>(at + 2), static_cast<std::size_t>(*length));
    const std::string_view content = segment.substr(std::min<std::size_t>(2, segment.size()));
    if (*marker == kApp1 && content.starts_with(kExif)) {
      return orientation_of(content.substr(kExif.size()));
    }
    at += 2 + *length;
  }
}

Picture upright(Picture picture, int orientation) {
  if (orientation == 1) return picture;
  const bool swaps = orientation >= 5;
  const bool flips_rows =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool flips_columns = orientation == 2 || orientation == 3 || orientation >= 7;
  Picture turned = picture;
  if (swaps) std::swap(turned.width, turned.height);
  auto out = turned.rgb.begin();
  for (Index i = 0; i < turned.height; ++i) {
    for (Index j = 0; j < turned.width; ++j) {
      const Index down = swaps ? j : i, right = swaps ? i : j;
      const Index row = flips_rows ? picture.height - 1 - down : down;
      const Index column = flips_columns ? picture.width - 1 - right : right;
      out = std::copy_n(picture.rgb.begin() + 3 * (row * picture.width + column), 3, out);
    }
  }
  return turned;
}

}  // namespace eigenscope
