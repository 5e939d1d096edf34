#include "inference/linear.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "checkpoint/config_keys.h"
#include "checkpoint/quantization.h"
#include "io/json_events.h"
#include "nn/mlp.h"
#include "support/error.h"
#include "support/finite.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr Index kBlockWeights = Index{1} << 20;
constexpr Index kRows = 16;  // of a tile of the product

}  // namespace

MatrixXf Linear::operator()(const MatrixXf& x) const {
  MatrixXf out(weight.rows(), x.cols());
  linear_forward(weight.data(), bias.data(), x, out);
  return out;
}

Factor<float> LinearBlock::weight() const {
  if (inputs_first) return factor(values.data(), values.rows());
  return factor(values.data(), values.rows()).transposed();
}

void LinearBlock::apply(Factor<float> x, Index n, float* y, Index leading) const {
  multiply(count, n, inputs_first ? values.cols() : values.rows(), weight(), x, y, leading);
  for (Index t = 0; bias.size() > 0 && t < n; ++t) {
    float* const column = y + t * leading;
    for (Index i = 0; i < count; ++i) column[i] += bias[i];
  }
}

StoredLinear::StoredLinear(std::shared_ptr<const Safetensors> file, std::string name, Index out,
                           Index in, bool inputs_first)
    : file_(std::move(file)),
      name_(std::move(name)),
      out_(out),
      in_(in),
      all_(out),
      inputs_first_(inputs_first) {
  check_shape(matrix_shape(*file_, name_), "");
}

StoredLinear::StoredLinear(std::shared_ptr<const Safetensors> file, std::string name, Index out,
                           Index in, const StackedMatrix& at)
    : file_(std::move(file)),
      name_(std::move(name)),
      out_(out),
      in_(in),
      begin_(at.number * out * in),
      all_(out),
      inputs_first_(at.inputs_first) {
  const auto [count, rows, columns] = stacked_shape(*file_, name_);
  check_shape({rows, columns}, std::to_string(std::max(count, at.number + 1)) + ", ");
  if (at.number >= count) {
    throw FormatError(shown_name(name_), "its shape " + shape_text(file_->tensor(name_)) +
                                             " lacks matrix " + std::to_string(at.number) +
                                             ", counted from 0");
  }
}

void StoredLinear::check_shape(const std::array<Index, 2>& stored,
                               const std::string& before) const {
  const std::array<Index, 2> shape = inputs_first_ ? std::array{in_, out_} : std::array{out_, in_};
  if (stored != shape) {
    throw FormatError(shown_name(name_), "its shape " + shape_text(file_->tensor(name_)) +
                                             " is not [" + before + std::to_string(shape[0]) +
                                             ", " + std::to_string(shape[1]) +
                                             "], the shape that the other tensors imply");
  }
  if (out_ > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(float)) / in_) {
    throw FormatError(shown_name(name_), "it is too large to read");
  }
}

StoredLinear StoredLinear::part(Index first, Index count, Index step) const {
  StoredLinear part = *this;
  part.first_ += first * step_;
  part.step_ *= step;
  part.out_ = count;
  if (bias_.size() > 0) part.bias_ = bias_(Eigen::seqN(first, count, step));
  return part;
}

StoredLinear StoredLinear::scaled(float factor) const {
  StoredLinear scaled = *this;
  scaled.factor_ *= factor;
  scaled.bias_ *= factor;
  if (added_) scaled.added_ = std::make_shared<const StoredLinear>(added_->scaled(factor));
  return scaled;
}

StoredLinear StoredLinear::plus(StoredLinear other) const {
  StoredLinear sum = *this;
  if (sum.bias_.size() == 0) {
    sum.bias_ = other.bias_;
  } else if (other.bias_.size() > 0) {
    sum.bias_ += other.bias_;
  }
  sum.added_ = std::make_shared<const StoredLinear>(std::move(other));
  return sum;
}

void StoredLinear::read_outputs(Index first, Index count, MatrixXf& values) const {
  values.resize(in_, (count - 1) * step_ + 1);
  read_finite(*file_, name_, begin_ + (first_ + first * step_) * in_, values.data(), values.size());
  if (step_ > 1) values = MatrixXf(values(Eigen::all, Eigen::seqN(0, count, step_)));
  if (factor_ != 1) values *= factor_;
  if (!added_) return;
  MatrixXf added;
  added_->read_outputs(first, count, added);
  MatrixXf both(inputs(), count);
  both << values, added;
  values = std::move(both);
}

void StoredLinear::read_block(Index first, LinearBlock& block) const {
  block.first = first;
  block.inputs_first = inputs_first_;
  if (inputs_first_) {
    block.count = out_;
    block.values.resize(all_, in_);
    read_finite(*file_, name_, begin_, block.values.data(), block.values.size());
    if (out_ < all_) {
      block.values = MatrixXf(block.values(Eigen::seqN(first_, out_, step_), Eigen::all));
    }
    if (factor_ != 1) block.values *= factor_;
  } else {
    const Index most = kBlockWeights / inputs() / kRows * kRows;
    block.count = std::min(out_ - first, std::max(most, kRows));
    read_outputs(first, block.count, block.values);
  }
  block.bias = bias_.size() > 0 ? VectorXf(bias_.segment(first, block.count)) : VectorXf();
}

Linear StoredLinear::read() const {
  Linear all{MatrixXf(), bias_};
  LinearBlock block;
  for (Index first = 0; first < out_; first += block.count) {
    read_block(first, block);
    if (inputs_first_) {
      all.weight = std::move(block.values);
      return all;
    }
    if (first == 0) all.weight.resize(out_, inputs());
    for (Index at = 0; at < block.count; at += kRows) {  // which lie in the cache together
      const Index count = std::min(kRows, block.count - at);
      all.weight.middleRows(first + at, count) = block.values.middleCols(at, count).transpose();
    }
  }
  return all;
}

namespace {

template <std::size_t kDimensions>
std::array<Index, kDimensions> checked_shape(const Safetensors& file, const std::string& name,
                                             const char* what) {
  const TensorInfo& info = file.tensor(name);
  refuse_quantized(file, name);
  const auto too_large = [](std::uint64_t side) { return side == 0 || side > kLargestSide; };
  if (info.shape.size() != kDimensions ||
      std::any_of(info.shape.begin(), info.shape.end(), too_large)) {
    throw FormatError(shown_name(name),
                      "its shape " + shape_text(info) + " is not that of " + what);
  }
  std::array<Index, kDimensions> shape;
  std::transform(info.shape.begin(), info.shape.end(), shape.begin(),
                 [](std::uint64_t side) { return static_cast<Index>(side); });
  return shape;
}

}  // namespace

std::array<Index, 2> matrix_shape(const Safetensors& file, const std::string& name) {
  return checked_shape<2>(file, name, "a weight matrix");
}

std::array<Index, 3> stacked_shape(const Safetensors& file, const std::string& name) {
  return checked_shape<3>(file, name, "stacked weight matrices");
}

void read_finite(const Safetensors& file, const std::string& name, Index first, float* values,
                 Index count) {
  const std::span<float> out(values, static_cast<std::size_t>(count));
  file.read_elements(name, static_cast<std::uint64_t>(first), out);
  if (all_finite(out)) return;
  throw FormatError(shown_name(name), "it holds NaN or infinite values in single precision");
}

}  // namespace eigenscope
