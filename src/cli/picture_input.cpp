#include "cli/picture_input.h"

#include <cstdint>

#include "cli/picture_file.h"
#include "io/byte_source.h"

namespace eigenscope::cli {

std::vector<std::byte> read_pictures(const std::vector<std::string>& paths) {
  constexpr std::uint64_t kLargestFile = 500'000'000;
  std::vector<std::byte> all;
  for (const std::string& path : paths) {
    const std::string bytes = open_source(path)->read_text(kLargestFile, "a picture");
    for (const Picture& picture : decode_pictures(path, bytes)) append_ppm(picture, all);
  }
  return all;
}

}  // namespace eigenscope::cli
