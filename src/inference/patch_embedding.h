// The patch embedding of a vision transformer: the tokens of its first layer, made of the pixels of a picture.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/family.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// A linear map of the pixels of each patch, the tokens of the class and of distillation before them where the model
/// has them, and learned positions. Pictures are square: side() patches of patch() pixels in each direction.
class PatchEmbedding {
 public:
  static constexpr Eigen::Index kChannels = 3;   ///< red, green, blue
  static constexpr Eigen::Index kMostSide = 64;  ///< an attention matrix then has 64 MiB

  /// `prefix` comes before the names; `tensors` must not be null. Reads shapes only; throws FormatError naming the
  /// tensor that is missing, or whose shape is not that of square patches of three channels or of positions of a
  /// square.
  PatchEmbedding(std::shared_ptr<const Safetensors> tensors, const std::string& prefix,
                 const ForwardNames& names);

  Eigen::Index width() const { return width_; }
  Eigen::Index patch() const { return patch_; }
  Eigen::Index side() const { return side_; }
  /// Pixels along each side of the picture.
  Eigen::Index pixels() const { return side_ * patch_; }
  /// Tokens before the patches, from 0 to 2: that of the class, and that of distillation.
  Eigen::Index leading() const { return static_cast<Eigen::Index>(leading_names_.size()); }
  Eigen::Index tokens() const { return leading() + side_ * side_; }

  /// The tokens (d x tokens()). `patches` are the normalized pixels of each patch, (3 p p) x (side side), from the
  /// upper left patch on row by row; within a patch channel by channel, row by row. Throws InvalidArgument ("image")
  /// for another size, and FormatError for weights that cannot be read or are not finite.
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& patches) const;

 private:
  Eigen::MatrixXf read(const std::string& name, Eigen::Index rows, Eigen::Index columns) const;

  std::shared_ptr<const Safetensors> tensors_;
  std::string weight_name_, position_name_;
  std::vector<std::string> leading_names_;
  Eigen::Index width_ = 0, patch_ = 0, side_ = 0;
};

}  // namespace eigenscope
