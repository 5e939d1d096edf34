// Pictures: PPM files, Pillow's resizing, what preprocessor_config.json asks for.
#include "picture/picture.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "picture/preprocessor.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Json = nlohmann::json;

namespace {

Picture picture_of(const Json& json) {
  return {json.at("width").get<Index>(), json.at("height").get<Index>(),
          json.at("rgb").get<std::vector<std::uint8_t>>()};
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string refusal_of(const std::string& ppm) {
  try {
    read_ppm(bytes_of(ppm));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

/// A picture of one colour.
Picture flat(Index width, Index height, std::uint8_t value) {
  return {width, height,
          std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), value)};
}

Picture preprocessed(const std::string& config, const Picture& picture, Index pixels) {
  const Config parsed = Config::parse(config, "preprocessor_config.json");
  return Preprocessor(&parsed, pixels).resized(picture);
}

Failure config_refusal(const std::string& config) {
  return failure_of([&] { preprocessed(config, flat(4, 4, 0), 4); });
}

}  // namespace

TEST_CASE("the camera's orientation is that of the EXIF data, and damaged data have none",
          "[picture]") {
  using namespace std::string_literals;
  const std::string other = "\xff\xe0\0\4JF"s;
  const std::string exif = "Exif\0\0MM\0\x2a\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"s;
  const std::string segment = "\xff\xe1\0"s + static_cast<char>(exif.size() + 2) + exif;
  const std::string file = "\xff\xd8" + other + segment + "\xff\xda\0\2"s;
  CHECK(exif_orientation(file) == 6);
  CHECK(exif_orientation("\xff\xd8" + other + "\xff\xda\0\2"s + segment) == 1);
  const std::size_t value = file.find('\6');
  for (std::size_t size = 0; size <= value; ++size) {
    CHECK(exif_orientation(file.substr(0, size)) == 1);
  }
  for (const char wrong : {'\0', '\x09'}) {
    std::string changed = file;
    changed[value] = wrong;
    CHECK(exif_orientation(changed) == 1);
  }
  std::string beyond = file;
  beyond[beyond.find("\0\0\0\x08"s)] = '\x7f';  // where the directory is
  CHECK(exif_orientation(beyond) == 1);
}

TEST_CASE("resized pictures have Pillow's bits", "[picture]") {
  const Json expected = reference("picture-resize.json");
  const Picture original = picture_of(expected);
  for (const Json& one : expected.at("resized")) {
    CAPTURE(one.at("filter"), one.at("width"), one.at("height"));
    const Picture wanted = picture_of(one);
    const auto filter =
        one.at("filter") == "bicubic" ? ResizeFilter::bicubic : ResizeFilter::bilinear;
    CHECK(resized(original, wanted.width, wanted.height, filter).rgb == wanted.rgb);
  }
}

TEST_CASE("PPM files are read one after another, as they are written", "[picture]") {
  std::vector<std::byte> bytes = bytes_of("P6 # comment\n2\t1 255\nabcdef");
  append_ppm({1, 2, {1, 2, 3, 4, 5, 255}}, bytes);
  const std::vector<Picture> pictures = read_ppm(bytes);
  REQUIRE(pictures.size() == 2);
  CHECK(pictures[0].width == 2);
  CHECK(pictures[0].height == 1);
  CHECK(pictures[0].rgb == std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'});
  CHECK(pictures[1].height == 2);
  CHECK(pictures[1].rgb.back() == 255);
}

TEST_CASE("other bytes are refused as pictures", "[picture]") {
  const std::string good = "P6\n1 1\n255\nabc";
  CHECK(refusal_of(good) == "none");
  CHECK_THAT(refusal_of("P5\n1 1\n255\na"), ContainsSubstring("begins with other bytes"));
  CHECK_THAT(refusal_of(good + "P6"), ContainsSubstring("truncated header"));
  CHECK_THAT(refusal_of(good + "x\n"), ContainsSubstring("picture 2"));
  CHECK_THAT(refusal_of("P6\n1 1\n255\nab"), ContainsSubstring("2 of 3 bytes"));
  CHECK_THAT(refusal_of("P6\n1 1"), ContainsSubstring("truncated header"));
  CHECK_THAT(refusal_of("P6\n1 1\n65535\nabcdef"), ContainsSubstring("65535"));
  CHECK_THAT(refusal_of("P6\n1 0\n255\n"), ContainsSubstring("found 1 x 0"));
  CHECK_THAT(refusal_of("P6\n8001 8000\n255\n"), ContainsSubstring("64000000"));
  CHECK_THAT(refusal_of("P6\n99999999999999999999 2\n255\n"), ContainsSubstring("64000000"));
  CHECK_THAT(refusal_of("P6\n-1 1\n255\n"), ContainsSubstring("digits"));
}

TEST_CASE("preprocessor_config.json sets size, crop, filter and normalization", "[picture]") {
  const Picture original = picture_of(reference("picture-resize.json"));
  const Picture square = resized(original, 8, 8, ResizeFilter::bilinear);
  CHECK(Preprocessor(nullptr, 8).resized(original).rgb == square.rgb);
  CHECK(preprocessed(R"({"size":8,"resample":2})", original, 8).rgb == square.rgb);
  const std::string sides = R"({"size":{"height":8,"width":8},"resample":3})";
  CHECK(preprocessed(sides, original, 8).rgb == resized(original, 8, 8, ResizeFilter::bicubic).rgb);

  // CLIP: 23 x 17 to 13 x 10, of which the middle is kept.
  const Picture scaled = resized(original, 13, 10, ResizeFilter::bicubic);
  const std::string crop = R"("do_center_crop":true,"resample":3)";
  const Picture cropped = preprocessed(
      R"({"size":{"shortest_edge":10},"crop_size":{"height":8,"width":8},)" + crop + "}", original,
      8);
  CHECK(cropped.rgb == center_cropped(scaled, 8, 8).rgb);
  CHECK(cropped.rgb[0] == scaled.rgb[3 * (1 * 13 + 2)]);
  CHECK(preprocessed(R"({"size":10,"crop_size":8,)" + crop + "}", original, 8).rgb == cropped.rgb);

  // Both sides are given: no proportions are kept before the crop.
  const std::string both =
      R"({"size":{"height":10,"width":12},"crop_size":8,"do_center_crop":true})";
  CHECK(preprocessed(both, original, 8).rgb ==
        center_cropped(resized(original, 12, 10, ResizeFilter::bilinear), 8, 8).rgb);
  const std::string without = R"({"do_center_crop":true,"crop_size":8})";
  CHECK(preprocessed(without, original, 8).rgb ==
        center_cropped(resized(original, 10, 8, ResizeFilter::bilinear), 8, 8).rgb);

  const Config config = Config::parse(R"({"image_mean":[0.5,0.25,0],"image_std":[0.5,1,2]})");
  const Eigen::MatrixXf patches = Preprocessor(&config, 4)
                                      .patches({4, 4,
                                                [] {
                                                  std::vector<std::uint8_t> rgb(48);
                                                  for (std::size_t i = 0; i < rgb.size(); ++i)
                                                    rgb[i] = static_cast<std::uint8_t>(i);
                                                  return rgb;
                                                }()},
                                               2);
  REQUIRE(patches.rows() == 12);
  REQUIRE(patches.cols() == 4);
  // Of the upper right patch: green of its lower left pixel, in row 1 and column 2 of the picture.
  CHECK(patches(4 + 2, 1) == Approx(19.0 / 255 - 0.25));
  CHECK(patches(0, 2) == Approx((24.0 / 255 - 0.5) / 0.5));
  CHECK(patches(11, 3) == Approx(47.0 / 255 / 2));
}

TEST_CASE("preprocessors that the model cannot follow are refused by key", "[picture]") {
  CHECK(config_refusal(R"({"size":8})").item == "size");
  CHECK_THAT(config_refusal(R"({"size":8})").message, ContainsSubstring("4 x 4"));
  CHECK(config_refusal(R"({"size":{"height":4,"width":5}})").item == "size");
  CHECK(config_refusal(R"({"resample":1})").item == "resample");
  CHECK(config_refusal(R"({"do_center_crop":true,"size":6,"crop_size":5})").item == "crop_size");
  CHECK(config_refusal(R"({"do_center_crop":true,"size":3,"crop_size":4})").item == "size");
  CHECK(config_refusal(R"({"image_std":[0.5,0,0.5]})").item == "image_std.1");
  CHECK(config_refusal(R"({"size":"large"})").item == "size");
  CHECK(config_refusal(R"({"do_center_crop":true,"size":{"height":3,"width":9}})").item == "size");
  CHECK_THROWS_AS(preprocessed(R"({"size":{"shortest_edge":4}})", flat(5, 4, 0), 4),
                  InvalidArgument);
  CHECK_THROWS_AS(preprocessed(R"({"do_resize":false})", flat(5, 4, 0), 4), InvalidArgument);
  CHECK_THROWS_AS(preprocessed(R"({"do_center_crop":true,"do_resize":false})", flat(3, 9, 0), 4),
                  InvalidArgument);
}
