// Fuzzes what reads pictures on the command line, with libpng and libjpeg-turbo: whatever the bytes, the outcome is
// pictures whose pixels are all there, or a FormatError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/picture_file.h"
#include "support/error.h"

using namespace eigenscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr Eigen::Index kMostPixels = 1 << 14;  // so that one input stays quick
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    for (const Picture& picture : cli::decode_pictures("fuzz", bytes, kMostPixels)) {
      const auto pixels = static_cast<std::uint64_t>(picture.width * picture.height);
      if (picture.rgb.size() != 3 * pixels) std::abort();
    }
  } catch (const FormatError&) {
  }
  return 0;
}
