#include "picture/resize.h"

#include <algorithm>
#include <cmath>

namespace eigenscope {
namespace {

using Eigen::Index;

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

/// What one output along a side is made of: inputs from `first` on.
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

}  // namespace eigenscope
