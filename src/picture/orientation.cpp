#include "picture/orientation.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace eigenscope {
namespace {

using Eigen::Index;

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

/// Of EXIF data, which are a TIFF file: the tag in its first directory.
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
