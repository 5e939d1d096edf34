// Pictures from files: PNG and JPEG where the libraries are there, PPM always.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eigenscope::cli {

/// What the help of an option for pictures adds.
inline constexpr const char* kPictureFiles = ": PNG, JPEG or binary PPM files";

/// The pictures of all files as PPM, one after another. Transparent pixels are drawn over white, JPEG pictures turned
/// upright as the camera's orientation (EXIF) says. Throws FormatError naming the file that cannot be read, is of another format,
/// truncated, or has more than Picture::kMostPixels pixels.
std::vector<std::byte> read_pictures(const std::vector<std::string>& paths);

}  // namespace eigenscope::cli
