// Scenes of a few objects with a question about one of them, for visual question answering without images, and one head
// of attention that answers, with its gradient.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/tensor.h"
#include "nn/tokens.h"
#include "spectrum/traces.h"

namespace eigenscope {

inline constexpr int kAttributes = 3;  ///< colour, shape, place
inline constexpr int kValues = 8;      ///< values of each attribute
inline constexpr int kObjects = 6;     ///< objects of a scene
/// Pairs of an attribute and a value: number kValues attribute + value.
inline constexpr int kFeatures = kAttributes * kValues;

/// "What is the value of `asked` of the object with the feature `given`?" No two objects of a scene share a
/// feature, so that one object, the target, is meant.
struct Scene {
  std::array<std::array<int, kAttributes>, kObjects> features;  ///< by object and attribute
  int asked;                                                    ///< attribute
  TokenId given;   ///< feature of the target, of another attribute
  TokenId answer;  ///< feature of the target, of the attribute asked
  int target;      ///< object
  int lowest;      ///< object with the lowest value of the attribute asked
};

/// Independent scenes, uniform over all; scene k is the same for every `count`.
std::vector<Scene> draw_scenes(std::size_t count, std::uint64_t seed, std::uint64_t stream);

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

  /// Moments of the eigenspectrum of W_QK.
  SpectralMoments spectrum() const;

 private:
  using Index = Eigen::Index;

  /// First parameter of each table, one after the other; the columns of `asked` follow those of the features
  /// in the table of queries.
  Index query() const { return 0; }
  Index key() const { return query() + width_ * (kFeatures + kAttributes); }
  Index value() const { return key() + width_ * kFeatures; }
  Index output() const { return value() + width_ * kFeatures; }
  Index bias() const { return output() + kFeatures * (width_ + kAttributes); }
  Index size() const { return bias() + kFeatures; }

  const Scalar* at(Index first) const { return parameters_.data() + first; }
  Scalar temperature() const { return 1 / std::sqrt(static_cast<Scalar>(width_)); }

  /// The features of object `number` of a scene; objects of a scene share none.
  static const std::array<int, kAttributes>& object(std::span<const Scene* const> scenes,
                                                    Index scene, Index number) {
    return scenes[static_cast<std::size_t>(scene)]->features[static_cast<std::size_t>(number)];
  }
  template <class Column>
  static Scalar sum_over(const std::array<int, kAttributes>& features, const Column& column) {
    return column[features[0]] + column[features[1]] + column[features[2]];
  }

  Index width_;
  Vector<Scalar> parameters_, gradient_;
  Matrix<Scalar> queries_;  // d_h x B
  // Features x B: logit of each feature, and weight of the object that has it.
  Matrix<Scalar> feature_logits_, feature_weights_;
  Matrix<Scalar> weights_, read_, logits_;  // read: attended value and asked, (d_h + 3) x B
  Matrix<Scalar> dread_, dfeature_, dqueries_;
};

}  // namespace eigenscope
