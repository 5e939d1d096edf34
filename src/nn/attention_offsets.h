// Terms of attention's logits that depend on the offset between query and key alone: relative position biases,
// and distances at which no key is seen.
#pragma once

#include <vector>

#include "nn/attention.h"

namespace eigenscope {

/// The logit of a key that a query does not see: its exponential is 0.
template <class Scalar>
inline constexpr Scalar kHiddenLogit = -1e30f;

/// The terms of one head in one sequence; T x T matrices have a key a row and a query a column.
template <class Scalar>
class OffsetLogits {
 public:
  OffsetLogits(const AttentionShape& shape, const OffsetTerms<Scalar>& offsets,
               Eigen::Index sequence, Eigen::Index head);

  /// factor (scale K^T Q + bias) in the place of K^T Q, and kHiddenLogit for keys that are not seen.
  void add(Scalar scale, Scalar factor, Eigen::Map<Matrix<Scalar>> logits) const;
  /// Sets the weights of queries that see no key to 0.
  void clear_unseeing(Eigen::Map<Matrix<Scalar>> weights) const;
  /// Adds the gradients to `slopes`. `weights` are those of the forward pass and `by_weight` is the gradient by them,
  /// both T x T.
  void add_slopes(const HeadInput<Scalar>& in, const Scalar* weights, const Scalar* by_weight,
                  const OffsetSlopes<Scalar>& slopes) const;

 private:
  using Index = Eigen::Index;

  bool sees(Index query, Index key) const {
    return kept_ == nullptr || kept_[std::abs(query - key)] != 0;
  }
  /// Row of the first key in the column of a head; the next keys follow.
  Index row(Index query) const { return longest_ - 1 - query; }
  void add_bias_slopes(const Scalar* weights, const Scalar* by_weight, Scalar* bias) const;
  void add_kept_slopes(const HeadInput<Scalar>& in, const Scalar* weights, const Scalar* by_weight,
                       Scalar* kept) const;

  const AttentionShape& shape_;
  Index longest_, head_;
  std::vector<Scalar> bias_;
  const char* kept_;
};

}  // namespace eigenscope
