// What logits have of the distance of two tokens alone, beside queries and keys.
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
  /// T5 (Raffel et al., 2020, arXiv:1910.10683), with keys on both sides: `buckets` (heads x n) are of n/2 offsets to
  /// keys before the query, or at it, and of n/2 after it. Half of these are a token wide each, the others grow
  /// exponentially up to the distance `farthest`, from which on all are alike. n must divide by 4.
  static OffsetBias in_buckets(Eigen::MatrixXf buckets, int farthest);

  bool is_none() const { return slopes_.size() == 0 && buckets_.size() == 0; }
  /// Of head number `head` in a passage of `length` tokens, by the offset key - query: 2 length - 1 numbers for -(length
  /// - 1) to length - 1; empty where there is none.
  Eigen::VectorXf of_head(int head, Eigen::Index length) const;

 private:
  float at(int head, Eigen::Index offset) const;

  Eigen::VectorXf slopes_;   // by head
  Eigen::MatrixXf buckets_;  // heads x n
  int farthest_ = 0;
};

/// Which of 2 `span` vectors stands for each offset of a query from a key (He et al., 2021, arXiv:2006.03654): distances
/// up to span/2, or up to span where `farthest` is 0, have one each on both sides, and those beyond share the others on a
/// logarithmic scale that ends at `farthest`. Of a passage of `length` tokens: 2 length - 1 numbers from 0 to 2 span - 1,
/// for the offsets key - query from -(length - 1) to length - 1.
std::vector<int> relative_places(Eigen::Index length, int span, int farthest);

/// Terms of the logits that a query has with the vector of its offset from a key, and the key with another one, as keys
/// and queries of all heads, one below the other, H d_h x 2 span each; empty for none.
struct DisentangledTerms {
  Eigen::MatrixXf keys, queries;
  int span = 0, farthest = 0;  ///< of relative_places()

  bool is_none() const { return keys.size() == 0 && queries.size() == 0; }
};

/// The part of of_head() that a query at position `query` has of `count` keys from position `first` on.
template <class Vector>
auto seen_offsets(const Vector& by_offset, Eigen::Index query, Eigen::Index first,
                  Eigen::Index count) {
  return by_offset.segment(first - query + (by_offset.size() - 1) / 2, count);
}

}  // namespace eigenscope
