// The frame of reference that a checkpoint brings: the covariance of its token embeddings.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>

#include "checkpoint/safetensors.h"

namespace eigenscope {

/// A job that reads the table of embeddings in blocks of rows. Memory is for two d x d matrices and one
/// block; time is O(tokens d^2).
class EmbeddingCovariance {
 public:
  /// `tensors` must not be null, `name` as HeadScan::embeddings() gives it. Throws InvalidArgument
  /// ("frame") for an empty one: the checkpoint has no token embeddings; FormatError naming the
  /// tensor when it is not a matrix of numbers with at least two rows, or wider than 16384.
  EmbeddingCovariance(std::shared_ptr<const Safetensors> tensors, std::string name);

  /// Reads the next block. Throws FormatError when it cannot be read or holds NaN or infinite values,
  /// and at the end when all embeddings are equal.
  void advance();
  bool done() const noexcept { return read_ == rows_; }
  std::uint64_t rows_read() const noexcept { return read_; }
  std::uint64_t rows() const noexcept { return rows_; }

  /// Sigma (d x d) of all tokens, each counted once, about their mean, scaled to tr(Sigma) = d: as
  /// large as the identity, since the norm before a projection undoes the embeddings' scale.
  /// Null until done().
  std::shared_ptr<const Eigen::MatrixXd> covariance() const { return covariance_; }

 private:
  void finish();

  std::shared_ptr<const Safetensors> tensors_;
  std::string name_;
  std::uint64_t rows_ = 0, read_ = 0;
  Eigen::VectorXd first_, sum_;  // row 0, and the sum of all differences from it
  Eigen::MatrixXd squares_;      // sum of the outer products of these differences
  std::shared_ptr<const Eigen::MatrixXd> covariance_;
};

}  // namespace eigenscope
