// Linear maps of a model: in memory, or in their file, from which blocks of their outputs are read.
#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "checkpoint/safetensors.h"
#include "support/gemm.h"

namespace eigenscope {

/// y = weight x + bias; weight is out x in, an empty bias is none.
struct Linear {
  Eigen::MatrixXf weight;
  Eigen::VectorXf bias;

  Eigen::MatrixXf operator()(const Eigen::MatrixXf& x) const;
};

/// Outputs `first` to first + count of a linear map.
struct LinearBlock {
  Eigen::Index first = 0, count = 0;
  /// in x count; out x in of the whole map where the file has inputs first.
  Eigen::MatrixXf values;
  bool inputs_first = false;
  Eigen::VectorXf bias;  ///< biases of these outputs; empty for none

  /// The block's rows of the weight, count x in.
  Factor<float> weight() const;
  /// Fills these outputs of n tokens, count x n with columns `leading` apart, for x (in x n).
  void apply(Factor<float> x, Eigen::Index n, float* y, Eigen::Index leading) const;
};

/// A matrix among those that a tensor stacks.
struct StackedMatrix {
  Eigen::Index number = 0;
  bool inputs_first = false;  ///< in x out
};

/// A linear map whose weight stays in the file.
class StoredLinear {
 public:
  /// No map: without outputs.
  StoredLinear() = default;
  /// `name` has the shape out x in, or in x out where the file has `inputs_first`. Throws FormatError naming the
  /// tensor when it is not there or has another shape.
  StoredLinear(std::shared_ptr<const Safetensors> file, std::string name, Eigen::Index out,
               Eigen::Index in, bool inputs_first);
  /// Matrix `at` of a tensor with the shape any x out x in, or any x in x out. Throws likewise.
  StoredLinear(std::shared_ptr<const Safetensors> file, std::string name, Eigen::Index out,
               Eigen::Index in, const StackedMatrix& at);
  void set_bias(Eigen::VectorXf bias) { bias_ = std::move(bias); }

  Eigen::Index outputs() const { return out_; }
  Eigen::Index inputs() const { return in_ + (added_ ? added_->inputs() : 0); }
  const Eigen::VectorXf& bias() const { return bias_; }
  /// The map of `count` outputs: first, first + step, ...
  StoredLinear part(Eigen::Index first, Eigen::Index count, Eigen::Index step = 1) const;
  /// The map with `factor` times its outputs.
  StoredLinear scaled(float factor) const;
  /// The sum of this map and `other`, which has as many outputs and reads inputs below those of this one. Neither may
  /// have inputs first in the file.
  StoredLinear plus(StoredLinear other) const;
  /// Fills `block`, whose memory is used again, with the outputs from `first` on, as many as it holds: 4 MiB of
  /// weights, or all where the file has inputs first. Throws FormatError naming the tensor that cannot be read or has
  /// values that are not finite.
  void read_block(Eigen::Index first, LinearBlock& block) const;
  /// Reads the whole map. Throws FormatError as read_block() does.
  Linear read() const;

 private:
  void check_shape(const std::array<Eigen::Index, 2>& stored, const std::string& before) const;
  /// Fills `values`, inputs() x count, with the weights of the outputs from `first` on. Not where the file has inputs
  /// first.
  void read_outputs(Eigen::Index first, Eigen::Index count, Eigen::MatrixXf& values) const;

  std::shared_ptr<const Safetensors> file_;
  std::string name_;
  Eigen::Index out_ = 0, in_ = 0;
  Eigen::Index begin_ = 0;  // of the matrix in the tensor, in elements
  // This map's outputs among those of the matrix, and how many the matrix has.
  Eigen::Index first_ = 0, step_ = 1, all_ = 0;
  bool inputs_first_ = false;
  float factor_ = 1;
  Eigen::VectorXf bias_;
  std::shared_ptr<const StoredLinear> added_;  // null for none; its bias is in that of this one
};

/// Rows and columns of a tensor that is there. Throws FormatError naming it when it is not a matrix, or too large.
std::array<Eigen::Index, 2> matrix_shape(const Safetensors& file, const std::string& name);
/// The number of matrices that a tensor stacks, and their rows and columns. Throws likewise.
std::array<Eigen::Index, 3> stacked_shape(const Safetensors& file, const std::string& name);

/// Fills `values` with `count` elements of a tensor from number `first` on. Throws FormatError naming the tensor that
/// cannot be read or has values that are not finite in single precision.
void read_finite(const Safetensors& file, const std::string& name, Eigen::Index first,
                 float* values, Eigen::Index count);

}  // namespace eigenscope
