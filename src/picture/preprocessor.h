// Preparation of a picture for the first layer of a model, as preprocessor_config.json describes
// it: another size, and normalized pixels by patch.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>

#include "checkpoint/config.h"
#include "picture/picture.h"

namespace eigenscope {

enum class ResizeFilter { bilinear, bicubic };

/// The picture in `width` x `height` pixels, with the bits of Pillow's Image.resize: separable, columns before rows,
/// the filter widened by the factor by which a side shrinks, weights of 22 bits, each pass rounded to 8 bits.
Picture resized(const Picture& picture, Eigen::Index width, Eigen::Index height,
                ResizeFilter filter);

/// The middle of the picture in `width` x `height` pixels, at most those of the picture.
Picture center_cropped(const Picture& picture, Eigen::Index width, Eigen::Index height);

class Preprocessor {
 public:
  /// The preparation for a model of pictures of `pixels` x `pixels`. A null config stands for bilinear resizing to that
  /// size, and mean and standard deviation 0.5. Throws FormatError naming the key that is not as expected, has a filter
  /// other than bilinear and bicubic, or asks for another size than the model's.
  Preprocessor(const Config* config, Eigen::Index pixels);

  /// The picture in the model's size. Throws InvalidArgument ("image") where it must not be resized and has another
  /// one.
  Picture resized(const Picture& picture) const;
  /// The normalized pixels of the patches of such a picture, (3 patch patch) x patches, as PatchEmbedding takes them.
  Eigen::MatrixXf patches(const Picture& picture, Eigen::Index patch) const;

 private:
  void read_size(const Config& config);

  Eigen::Index pixels_;
  bool resizes_ = true, crops_ = false;
  ResizeFilter filter_ = ResizeFilter::bilinear;
  /// Size before the middle is cut out: the shorter side, or else both sides.
  std::optional<Eigen::Index> shortest_edge_;
  Eigen::Index height_, width_;
  float scale_ = 1.0f / 255;
  std::array<float, 3> mean_{0.5f, 0.5f, 0.5f}, deviation_{0.5f, 0.5f, 0.5f};
};

}  // namespace eigenscope
