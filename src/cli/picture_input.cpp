#include "cli/picture_input.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "io/byte_source.h"
#include "picture/orientation.h"
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

constexpr std::uint64_t kLargestFile = 500'000'000;
constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";

[[noreturn]] void refuse(const std::string& path, const char* format, const std::string& why) {
  throw FormatError(path, std::string("it must be a readable ") + format + " file: " + why);
}

Picture empty_picture(std::uint64_t width, std::uint64_t height) {
  check_size(width, height);
  Picture picture{static_cast<Eigen::Index>(width), static_cast<Eigen::Index>(height), {}};
  picture.rgb.resize(static_cast<std::size_t>(3 * width * height));
  return picture;
}

Picture decode_png(const std::string& path, [[maybe_unused]] std::string_view bytes) {
#ifdef EIGENSCOPE_HAS_PNG
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> guard(&image, png_image_free);
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) {
    refuse(path, "PNG", image.message);
  }
  image.format = PNG_FORMAT_RGBA;
  Picture picture = empty_picture(image.width, image.height);
  std::vector<std::uint8_t> rgba(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr)) {
    refuse(path, "PNG", image.message);
  }
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    // libpng would mix with white in linear light, which neither Pillow nor browsers do.
    const unsigned alpha = rgba[4 * (i / 3) + 3], colour = rgba[4 * (i / 3) + i % 3];
    picture.rgb[i] = static_cast<std::uint8_t>((colour * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  return picture;
#else
  refuse(path, "PPM", "this build lacks libpng");
#endif
}

Picture decode_jpeg(const std::string& path, [[maybe_unused]] std::string_view bytes) {
#ifdef EIGENSCOPE_HAS_JPEG
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<unsigned long>(bytes.size());
  const auto check = [&](int status) {
    if (status != 0) refuse(path, "JPEG", tjGetErrorStr2(decoder.get()));
  };
  int width = 0, height = 0, subsampling = 0, space = 0;
  check(tjDecompressHeader3(decoder.get(), data, size, &width, &height, &subsampling, &space));
  Picture picture =
      empty_picture(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height));
  check(tjDecompress2(decoder.get(), data, size, picture.rgb.data(), width, 0, height, TJPF_RGB,
                      TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING));
  return upright(std::move(picture), exif_orientation(bytes));
#else
  refuse(path, "PPM", "this build lacks libjpeg-turbo");
#endif
}

void append_file(const std::string& path, std::vector<std::byte>& all) {
  const std::string bytes = open_source(path)->read_text(kLargestFile, "a picture");
  const std::string_view view(bytes);
  try {
    if (view.starts_with(kPng)) return append_ppm(decode_png(path, view), all);
    if (view.starts_with(kJpeg)) return append_ppm(decode_jpeg(path, view), all);
    if (!view.starts_with("P6")) throw FormatError(path, "it must be a PNG, JPEG or PPM (P6) file");
    for (const Picture& picture : read_ppm(std::as_bytes(std::span(bytes)))) {
      append_ppm(picture, all);
    }
  } catch (const InvalidArgument& error) {
    throw FormatError(path, error.what());
  }
}

}  // namespace

std::vector<std::byte> read_pictures(const std::vector<std::string>& paths) {
  std::vector<std::byte> all;
  for (const std::string& path : paths) append_file(path, all);
  return all;
}

}  // namespace eigenscope::cli
