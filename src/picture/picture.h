// Pictures in memory and as PPM files, and their rotation to upright by the EXIF orientation of a JPEG
// file (CIPA DC-008, tag 0x0112).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace eigenscope {

/// Red, green and blue of each pixel in [0, 255], row by row from the upper left one.
struct Picture {
  static constexpr Eigen::Index kMostPixels = 64'000'000;

  Eigen::Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  ///< 3 width height
};

/// The pictures of one or several binary PPM files (Netpbm's P6 of 8 bits), one after another. Throws InvalidArgument
/// ("image") for other bytes, a truncated picture, a side of 0 or more than kMostPixels pixels in one.
std::vector<Picture> read_ppm(std::span<const std::byte> bytes);

/// Throws InvalidArgument ("image") for a side of 0 or more than `most` pixels.
void check_size(std::uint64_t width, std::uint64_t height,
                Eigen::Index most = Picture::kMostPixels);

/// Appends the picture as a binary PPM file.
void append_ppm(const Picture& picture, std::vector<std::byte>& bytes);

/// The orientation in [1, 8] that the bytes of a JPEG file name; 1, as stored, without one or with damaged data.
int exif_orientation(std::string_view jpeg);

/// The picture upright, of an orientation in [1, 8].
Picture upright(Picture picture, int orientation);

}  // namespace eigenscope
