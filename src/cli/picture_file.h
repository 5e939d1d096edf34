// Decodes pictures from the bytes of files: PNG and JPEG where the libraries are there, PPM always.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "picture/picture.h"

namespace eigenscope::cli {

/// The pictures of a file, of which a PPM file may have several. Transparent pixels are drawn over white, JPEG pictures
/// turned upright as the camera's orientation (EXIF) says. Throws FormatError of `name` for bytes that cannot be read,
/// are of another format, truncated, or of a picture with more than `most_pixels` pixels.
std::vector<Picture> decode_pictures(const std::string& name, std::string_view bytes,
                                     Eigen::Index most_pixels = Picture::kMostPixels);

}  // namespace eigenscope::cli
