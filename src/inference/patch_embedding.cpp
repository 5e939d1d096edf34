#include "inference/patch_embedding.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "inference/linear.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr std::uint64_t kLargestPatch = 1024;  // pixels

[[noreturn]] void refuse_shape(const TensorInfo& info, const std::string& name,
                               const std::string& wanted) {
  refuse_item(name, {"its shape must be ", wanted, ", found ", shape_text(info)});
}

/// The rows of a table of `width` columns, before which sides of 1 may stand.
Index rows_of(const Safetensors& file, const std::string& name, Index width) {
  const TensorInfo& info = file.tensor(name);
  std::vector<std::uint64_t> shape = info.shape;
  while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  const auto columns = static_cast<std::uint64_t>(width);
  if (shape.size() != 2 || shape[0] > kLargestSide || shape[1] != columns) {
    refuse_shape(info, name, "rows of the width " + std::to_string(width));
  }
  return static_cast<Index>(shape[0]);
}

}  // namespace

PatchEmbedding::PatchEmbedding(std::shared_ptr<const Safetensors> tensors,
                               const std::string& prefix, const ForwardNames& names)
    : tensors_(std::move(tensors)),
      weight_name_(prefix + std::string(names.patch_embedding)),
      position_name_(prefix + std::string(names.position_embedding)) {
  const TensorInfo& info = tensors_->tensor(weight_name_);
  const auto& shape = info.shape;
  const bool square = shape.size() == 4 && shape[0] >= 1 && shape[0] <= kLargestSide &&
                      shape[1] == kChannels && shape[2] >= 1 && shape[2] <= kLargestPatch &&
                      shape[3] == shape[2];
  if (!square) refuse_shape(info, weight_name_, "[width, 3, side, side] of square RGB patches");
  width_ = static_cast<Index>(shape[0]);
  patch_ = static_cast<Index>(shape[2]);
  if (!names.class_embedding.empty()) {
    leading_names_.push_back(prefix + std::string(names.class_embedding));
  }
  if (!names.distillation_embedding.empty()) {
    const std::string second = prefix + std::string(names.distillation_embedding);
    if (tensors_->tensors().contains(second)) leading_names_.push_back(second);
  }
  for (const std::string& name : leading_names_) {
    if (rows_of(*tensors_, name, width_) == 1) continue;
    refuse_shape(tensors_->tensor(name), name, "that of one token");
  }
  const Index patches = rows_of(*tensors_, position_name_, width_) - leading();
  while (side_ < kMostSide && side_ * side_ < patches) ++side_;
  if (patches < 1 || side_ * side_ != patches) {
    refuse_shape(
        tensors_->tensor(position_name_), position_name_,
        "rows for n^2 patches" +
            (leading() ? " and " + std::to_string(leading()) + " tokens before them" : "") +
            ", n in [1, " + std::to_string(kMostSide) + "]");
  }
}

MatrixXf PatchEmbedding::read(const std::string& name, Index rows, Index columns) const {
  MatrixXf values(rows, columns);
  read_finite(*tensors_, name, 0, values.data(), values.size());
  return values;
}

MatrixXf PatchEmbedding::operator()(const MatrixXf& patches) const {
  const Index inputs = kChannels * patch_ * patch_;
  if (patches.rows() != inputs || patches.cols() != side_ * side_) {
    const auto shown = [](Index rows, Index columns) {
      return std::to_string(columns) + " patches of " + std::to_string(rows) + " numbers";
    };
    throw InvalidArgument("image", "have " + shown(inputs, side_ * side_),
                          "found " + shown(patches.rows(), patches.cols()));
  }
  Linear map{read(weight_name_, inputs, width_).transpose(), {}};
  const std::string bias = bias_of(weight_name_);
  if (tensors_->tensors().contains(bias)) {
    if (rows_of(*tensors_, bias, width_) != 1) {
      refuse_shape(tensors_->tensor(bias), bias, "that of one token");
    }
    map.bias = read(bias, width_, 1);
  }
  MatrixXf tokens(width_, this->tokens());
  for (Index k = 0; k < leading(); ++k) {
    tokens.col(k) = read(leading_names_[static_cast<std::size_t>(k)], width_, 1);
  }
  tokens.rightCols(patches.cols()) = map(patches);
  tokens += read(position_name_, width_, this->tokens());
  return tokens;
}

}  // namespace eigenscope
