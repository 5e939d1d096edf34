#include "cli/picture_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "picture/picture.h"
#include "support/error.h"

#ifdef EIGENSCOPE_HAS_PNG
#include <png.h>
#endif
#ifdef EIGENSCOPE_HAS_JPEG
#include <turbojpeg.h>
#endif

namespace eigenscope::cli {
namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";

[[noreturn]] void refuse(const std::string& name, const char* format, const std::string& why) {
  throw FormatError(name, std::string("it must be a readable ") + format + " file: " + why);
}

Picture empty_picture(std::uint64_t width, std::uint64_t height, Eigen::Index most_pixels) {
  check_size(width, height, most_pixels);
  Picture picture{static_cast<Eigen::Index>(width), static_cast<Eigen::Index>(height), {}};
  picture.rgb.resize(static_cast<std::size_t>(3 * width * height));
  return picture;
}

Picture decode_png(const std::string& name, [[maybe_unused]] std::string_view bytes,
                   [[maybe_unused]] Eigen::Index most_pixels) {
#ifdef EIGENSCOPE_HAS_PNG
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> guard(&image, png_image_free);
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) {
    refuse(name, "PNG", image.message);
  }
  image.format = PNG_FORMAT_RGBA;
  Picture picture = empty_picture(image.width, image.height, most_pixels);
  std::vector<std::uint8_t> rgba(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr)) {
    refuse(name, "PNG", image.message);
  }
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    // libpng would mix with white in linear light, which neither Pillow nor browsers do.
    const unsigned alpha = rgba[4 * (i / 3) + 3], colour = rgba[4 * (i / 3) + i % 3];
    picture.rgb[i] = static_cast<std::uint8_t>((colour * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  return picture;
#else
  refuse(name, "PPM", "this build lacks libpng");
#endif
}

Picture decode_jpeg(const std::string& name, [[maybe_unused]] std::string_view bytes,
                    [[maybe_unused]] Eigen::Index most_pixels) {
#ifdef EIGENSCOPE_HAS_JPEG
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<unsigned long>(bytes.size());
  const auto check = [&](int status) {
    if (status != 0) refuse(name, "JPEG", tjGetErrorStr2(decoder.get()));
  };
  int width = 0, height = 0, subsampling = 0, space = 0;
  check(tjDecompressHeader3(decoder.get(), data, size, &width, &height, &subsampling, &space));
  if (width == 0 || height == 0) refuse(name, "JPEG", "it has no picture");
  Picture picture = empty_picture(static_cast<std::uint64_t>(width),
                                  static_cast<std::uint64_t>(height), most_pixels);
  check(tjDecompress2(decoder.get(), data, size, picture.rgb.data(), width, 0, height, TJPF_RGB,
                      TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING));
  return upright(std::move(picture), exif_orientation(bytes));
#else
  refuse(name, "PPM", "this build lacks libjpeg-turbo");
#endif
}

}  // namespace

std::vector<Picture> decode_pictures(const std::string& name, std::string_view bytes,
                                     Eigen::Index most_pixels) {
  std::vector<Picture> pictures;
  try {
    if (bytes.empty()) throw FormatError(name, "it must be a picture, but it is empty");
    if (bytes.starts_with(kPng)) {
      pictures.push_back(decode_png(name, bytes, most_pixels));
    } else if (bytes.starts_with(kJpeg)) {
      pictures.push_back(decode_jpeg(name, bytes, most_pixels));
    } else if (bytes.starts_with("P6")) {
      pictures = read_ppm(std::as_bytes(std::span(bytes)));
    } else {
      throw FormatError(name, "it must be a PNG, JPEG or PPM (P6) file");
    }
    return pictures;
  } catch (const InvalidArgument& error) {
    throw FormatError(name, error.what());
  }
}

}  // namespace eigenscope::cli
