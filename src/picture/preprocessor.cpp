#include "picture/preprocessor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr std::uint64_t kLargestSide = 8192;

[[noreturn]] void refuse(const Config& config, const std::string& key, const std::string& wanted,
                         const std::string& found) {
  throw FormatError(key, "it must be " + wanted + ", found " + found + " in " + config.name());
}

std::string shown(Index width, Index height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

/// Height and width of `key`, an integer or an object; nothing where there is no such key.
std::optional<std::array<Index, 2>> sides(const Config& config, const std::string& key) {
  const auto height = config.positive_integer(key + ".height", kLargestSide);
  const auto width = config.positive_integer(key + ".width", kLargestSide);
  if (height && width) return {{static_cast<Index>(*height), static_cast<Index>(*width)}};
  const bool is_object = height || width || config.has(key + ".shortest_edge");
  if (is_object || !config.has(key)) return std::nullopt;
  const auto both = config.positive_integer(key, kLargestSide);
  return {{static_cast<Index>(*both), static_cast<Index>(*both)}};
}

void read_channels(const Config& config, const std::string& key, double least,
                   std::array<float, 3>& values) {
  constexpr double kMost = 1e3;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto value = config.number(key + "." + std::to_string(c), least, kMost);
    if (value) values[c] = static_cast<float>(*value);
  }
}

}  // namespace

Preprocessor::Preprocessor(const Config* config, Index pixels)
    : pixels_(pixels), height_(pixels), width_(pixels) {
  if (config == nullptr) return;
  read_size(*config);
  if (const auto resample = config->number("resample", 0, 5)) {
    constexpr double kBilinear = 2, kBicubic = 3;  // of Pillow
    if (*resample != kBilinear && *resample != kBicubic) {
      refuse(*config, "resample", "2 (bilinear) or 3 (bicubic)",
             std::to_string(static_cast<int>(*resample)));
    }
    if (*resample == kBicubic) filter_ = ResizeFilter::bicubic;
  }
  const auto factor = config->number("rescale_factor", 1e-6, 1);
  if (factor) scale_ = static_cast<float>(*factor);
  if (config->flag("do_rescale") == false) scale_ = 1;
  if (config->flag("do_normalize") == false) {
    mean_ = {0, 0, 0};
    deviation_ = {1, 1, 1};
    return;
  }
  constexpr double kLeastDeviation = 1e-6;
  read_channels(*config, "image_mean", -1e3, mean_);
  read_channels(*config, "image_std", kLeastDeviation, deviation_);
}

void Preprocessor::read_size(const Config& config) {
  crops_ = config.flag("do_center_crop").value_or(false);
  resizes_ = config.flag("do_resize").value_or(true);
  const auto check = [&](const std::string& key) {
    const auto size = sides(config, key);
    if (!size || *size == std::array{pixels_, pixels_}) return;
    refuse(config, key, shown(pixels_, pixels_) + ", the size that the model takes",
           shown((*size)[1], (*size)[0]));
  };
  check(crops_ ? "crop_size" : "size");
  const auto size = sides(config, "size");
  if (const auto shortest = config.positive_integer("size.shortest_edge", kLargestSide)) {
    shortest_edge_ = static_cast<Index>(*shortest);
  } else if (size && config.has("size.height")) {
    height_ = (*size)[0];
    width_ = (*size)[1];
  } else if (crops_) {  // a single number is the shorter side of a picture that is then cropped
    shortest_edge_ = size ? (*size)[0] : pixels_;
  }
  const Index least = shortest_edge_.value_or(std::min(height_, width_));
  if (resizes_ && least < pixels_) {
    refuse(config, "size", "at least the model's " + std::to_string(pixels_),
           std::to_string(least));
  }
}

Picture Preprocessor::resized(const Picture& picture) const {
  Picture result = picture;
  if (resizes_ && shortest_edge_) {
    const Index shorter = std::min(picture.width, picture.height);
    const auto scaled = [&](Index side) { return side * *shortest_edge_ / shorter; };
    check_size(static_cast<std::uint64_t>(scaled(picture.width)),
               static_cast<std::uint64_t>(scaled(picture.height)));
    result = eigenscope::resized(picture, scaled(picture.width), scaled(picture.height), filter_);
  } else if (resizes_) {
    result = eigenscope::resized(picture, width_, height_, filter_);
  }
  const bool fits = result.width == pixels_ && result.height == pixels_;
  if (fits) return result;
  if (!crops_ || result.width < pixels_ || result.height < pixels_) {
    throw InvalidArgument("image", "have " + shown(pixels_, pixels_) + " pixels",
                          "found " + shown(result.width, result.height));
  }
  return center_cropped(result, pixels_, pixels_);
}

MatrixXf Preprocessor::patches(const Picture& picture, Index patch) const {
  const Index side = pixels_ / patch;
  MatrixXf patches(3 * patch * patch, side * side);
  for (Index column = 0; column < patches.cols(); ++column) {
    const Index top = column / side * patch, left = column % side * patch;
    for (Index c = 0; c < 3; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      for (Index i = 0; i < patch * patch; ++i) {
        const Index pixel = (top + i / patch) * pixels_ + left + i % patch;
        const float value =
            scale_ * static_cast<float>(picture.rgb[static_cast<std::size_t>(3 * pixel + c)]);
        patches(c * patch * patch + i, column) = (value - mean_[channel]) / deviation_[channel];
      }
    }
  }
  return patches;
}

}  // namespace eigenscope
