// Pictures from files, as an operation takes them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eigenscope::cli {

/// The sentence on formats in the help of an option for pictures.
inline constexpr const char* kPictureFiles = ": PNG, JPEG or binary PPM files";

/// The pictures of all files as PPM, one after another. Throws FormatError naming the file that cannot be read, and as
/// decode_pictures() does.
std::vector<std::byte> read_pictures(const std::vector<std::string>& paths);

}  // namespace eigenscope::cli
