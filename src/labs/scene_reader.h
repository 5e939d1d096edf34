// One head of attention that answers a question about a scene, with its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "labs/scenes.h"
#include "nn/tensor.h"
#include "spectrum/traces.h"

namespace eigenscope {

/// Queries are W_Q given + A asked, keys W_K x and values W_V x, where an object x is the sum of its three
/// one-hot features; the answer's logits are W_O [attended value; asked] + b. One head of width d_h, no
/// positions: W_QK = W_Q^T W_K / sqrt(d_h) is a matrix over the features.
template <class Scalar>
class SceneReader {
 public:
  /// Independent normal weights: those of features and of `asked` with the standard deviation `scale`, the
  /// output's with 1/sqrt(d_h + 3); b = 0.
  SceneReader(Eigen::Index head_width, double scale, std::uint64_t seed, std::uint64_t stream);

  /// Answers a batch.
  void forward(std::span<const Scene* const> scenes);
  /// After forward, objects x B: what each question attends to.
  const Matrix<Scalar>& weights() const { return weights_; }
  /// After forward, features x B.
  const Matrix<Scalar>& logits() const { return logits_; }

  /// After forward: mean over the batch of -log p(answer) + c sum_i prior_i log(prior_i / weight_i); adds
  /// nothing for an empty prior (objects x B else). The gradient by parameters() is in gradient().
  double backward(std::span<const Scene* const> scenes, const Matrix<Scalar>& prior, Scalar c);

  Vector<Scalar>& parameters() { return parameters_; }
  const Vector<Scalar>& gradient() const { return gradient_; }

  /// Of W_QK.
  SpectralMoments spectrum() const;

 private:
  using Index = Eigen::Index;

  /// First parameter of each table, one after the other.
  Index query() const { return 0; }
  Index asked() const { return width_ * kFeatures; }
  Index key() const { return asked() + width_ * kAttributes; }
  Index value() const { return key() + width_ * kFeatures; }
  Index output() const { return value() + width_ * kFeatures; }
  Index bias() const { return output() + kFeatures * (width_ + kAttributes); }
  Index size() const { return bias() + kFeatures; }

  /// Column `place` of the table that begins at `first`.
  const Scalar* column(Index first, Index place) const {
    return parameters_.data() + first + width_ * place;
  }
  Scalar* slope(Index first, Index place) { return gradient_.data() + first + width_ * place; }

  Index width_;
  Vector<Scalar> parameters_, gradient_;
  Matrix<Scalar> queries_, keys_, values_;  // d_h x B, d_h x B objects
  Matrix<Scalar> weights_, read_, logits_;  // read: attended value and asked, (d_h + 3) x B
  Matrix<Scalar> dread_;
  Vector<Scalar> dquery_, dlogit_;
};

}  // namespace eigenscope
