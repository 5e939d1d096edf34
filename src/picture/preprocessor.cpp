#include "picture/preprocessor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr int kWeightBits = 22;

double bilinear(double x) { return std::max(0.0, 1 - std::abs(x)); }

/// Keys' cubic convolution with a = -1/2.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// The filter of one output along a side, over the inputs from `first` on.
struct Taps {
  Index first = 0;
  std::vector<std::int32_t> weights;  ///< sum to about 2^kWeightBits
};

std::vector<Taps> taps_of(Index inputs, Index outputs, ResizeFilter filter) {
  const bool linear = filter == ResizeFilter::bilinear;
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  const double widening = std::max(1.0, scale);
  const double reach = (linear ? 1 : 2) * widening;
  std::vector<Taps> all(static_cast<std::size_t>(outputs));
  for (Index k = 0; k < outputs; ++k) {
    const double centre = (static_cast<double>(k) + 0.5) * scale;
    Taps& taps = all[static_cast<std::size_t>(k)];
    taps.first = std::max<Index>(0, static_cast<Index>(centre - reach + 0.5));
    const Index end = std::min(inputs, static_cast<Index>(centre + reach + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (Index i = taps.first; i < end; ++i) {
      const double x = (static_cast<double>(i) - centre + 0.5) * (1 / widening);
      weights.push_back(linear ? bilinear(x) : bicubic(x));
      sum += weights.back();
    }
    for (const double weight : weights) {
      const double scaled = weight * (1 / sum) * (1 << kWeightBits);
      taps.weights.push_back(static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5)));
    }
  }
  return all;
}

/// `from` is the first value of a line whose values are `step` apart.
std::uint8_t weighted(const Taps& taps, const std::uint8_t* from, Index step) {
  std::int64_t sum = 1 << (kWeightBits - 1);
  const std::uint8_t* value = from + taps.first * step;
  for (const std::int32_t weight : taps.weights) {
    sum += std::int64_t{weight} * *value;
    value += step;
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

Picture with_width(const Picture& picture, Index width, ResizeFilter filter) {
  const std::vector<Taps> taps = taps_of(picture.width, width, filter);
  Picture result{width, picture.height, {}};
  result.rgb.reserve(static_cast<std::size_t>(3 * width * picture.height));
  for (Index y = 0; y < picture.height; ++y) {
    const std::uint8_t* const row = picture.rgb.data() + 3 * picture.width * y;
    for (const Taps& tap : taps) {
      for (Index c = 0; c < 3; ++c) result.rgb.push_back(weighted(tap, row + c, 3));
    }
  }
  return result;
}

Picture with_height(const Picture& picture, Index height, ResizeFilter filter) {
  const Index row = 3 * picture.width;
  Picture result{picture.width, height, {}};
  result.rgb.reserve(static_cast<std::size_t>(row * height));
  for (const Taps& tap : taps_of(picture.height, height, filter)) {
    for (Index i = 0; i < row; ++i) {
      result.rgb.push_back(weighted(tap, picture.rgb.data() + i, row));
    }
  }
  return result;
}

constexpr std::uint64_t kLargestSide = 8192;

[[noreturn]] void refuse(const Config& config, const std::string& key, const std::string& wanted,
                         const std::string& actual) {
  throw FormatError(key, "it must be " + wanted + ", found " + actual + " in " + config.name());
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

Picture resized(const Picture& picture, Index width, Index height, ResizeFilter filter) {
  Picture result = width == picture.width ? picture : with_width(picture, width, filter);
  return height == result.height ? result : with_height(result, height, filter);
}

Picture center_cropped(const Picture& picture, Index width, Index height) {
  const Index left = (picture.width - width) / 2, top = (picture.height - height) / 2;
  Picture result{width, height, {}};
  result.rgb.reserve(static_cast<std::size_t>(3 * width * height));
  for (Index y = 0; y < height; ++y) {
    const auto row = picture.rgb.begin() + 3 * ((top + y) * picture.width + left);
    result.rgb.insert(result.rgb.end(), row, row + 3 * width);
  }
  return result;
}

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
