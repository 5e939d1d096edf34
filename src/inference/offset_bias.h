// Terms of the logits that depend on the offset of a key from its query.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace eigenscope {

/// A number for each head and each offset of the key from the query, which is added to the logit.
class OffsetBias {
 public:
  OffsetBias() = default;  ///< none

  /// ALiBi (Press, Smith, Lewis, 2022, arXiv:2108.12409): minus the distance in tokens times the slope of the head. The
  /// slopes of n heads, a power of two, are 2^(-e/n), 2^(-2e/n), ..., 2^-e with e the `exponent`; of other numbers of
  /// heads those of the next lower power, then every other one of the next higher.
  static OffsetBias slopes(int heads, double exponent);
  /// T5 (Raffel et al., 2020, arXiv:1910.10683), with keys on both sides. `buckets` is heads x n: n/2 buckets for keys
  /// at or before the query, then n/2 for keys after it. Half of the buckets of a side are one token wide; the others
  /// grow exponentially up to the distance `farthest`, and the last one holds all larger distances. n must divide by 4.
  static OffsetBias in_buckets(Eigen::MatrixXf buckets, int farthest);

  bool is_none() const { return slopes_.size() == 0 && buckets_.size() == 0; }
  /// The biases of head number `head` in a passage of `length` tokens: 2 length - 1 numbers, for the offsets key -
  /// query from -(length - 1) to length - 1; empty where there is none.
  Eigen::VectorXf of_head(int head, Eigen::Index length) const;

 private:
  float at(int head, Eigen::Index offset) const;

  Eigen::VectorXf slopes_;   // by head
  Eigen::MatrixXf buckets_;  // heads x n
  int farthest_ = 0;
};

/// The number, from 0 to 2 span - 1, of the vector that stands for each offset key - query from -(length - 1) to length
/// - 1 in a passage of `length` tokens: 2 length - 1 numbers (He et al., 2021, arXiv:2006.03654). On each side
/// distances up to span/2, or up to span where `farthest` is 0, have a vector each; larger ones share the others on a
/// logarithmic scale that ends at `farthest`.
std::vector<int> relative_places(Eigen::Index length, int span, int farthest);

/// Disentangled terms of the logits (He et al., 2021): products of a query with the vector in `keys`, and of a key with
/// the vector in `queries`, that stands for their offset. For all heads, one below the other, H d_h x 2 span each;
/// empty for none.
struct DisentangledTerms {
  Eigen::MatrixXf keys, queries;
  int span = 0, farthest = 0;  ///< arguments of relative_places()

  bool is_none() const { return keys.size() == 0 && queries.size() == 0; }
};

/// The part of of_head() for a query at position `query` and `count` keys from position `first` on.
template <class Vector>
auto seen_offsets(const Vector& by_offset, Eigen::Index query, Eigen::Index first,
                  Eigen::Index count) {
  return by_offset.segment(first - query + (by_offset.size() - 1) / 2, count);
}

}  // namespace eigenscope
