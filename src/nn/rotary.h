// Rotary position embedding: pairs of a head's coordinates, turned by angles in proportion to the position.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "nn/attention.h"

namespace eigenscope {

/// The pairs of coordinates of a head that rotary positions turn together (Su et al., 2021).
enum class RotaryPairs {
  kNone,
  kHalves,     ///< i and i + r/2 of the first r, as in GPT-NeoX and LLaMA
  kNeighbours  ///< 2i and 2i + 1
};

/// Rotary positions of a head: pair p of the first `turned` coordinates by position times
/// angle_scale[p] base^(-2 p/turned) (Su et al., 2021, arXiv:2104.09864).
struct Rotary {
  RotaryPairs pairs = RotaryPairs::kNone;
  Eigen::Index turned = 0;  ///< r, even, at most d_h
  double base = 10000;
  /// r/2 factors of the angles, which models of long contexts have; empty where all are 1.
  std::vector<double> angle_scale = {};
  /// Factor of the turned coordinates' part of the logits, at every offset.
  double logit_factor = 1;

  bool operator==(const Rotary&) const = default;
};

/// Angle in radians between neighbouring positions of pair number `pair`.
double angle_of(const Rotary& rotary, Eigen::Index pair);

/// The two coordinates of pair number `pair` out of `count`; not for kNone.
struct RotaryPlaces {
  Eigen::Index first, second;
};
inline RotaryPlaces rotary_places(RotaryPairs pairs, Eigen::Index pair, Eigen::Index count) {
  if (pairs == RotaryPairs::kHalves) return {pair, pair + count};
  return {2 * pair, 2 * pair + 1};
}

/// The turns R(0) ... R(T - 1) of a head's d_h coordinates. The logit of the key x_k at position t for the
/// query x_q at position p is (R(p) x_q)^T R(t) x_k = (R(p - t) x_q)^T x_k, times the model's factor in the
/// turned coordinates.
class RotaryTurns {
 public:
  RotaryTurns() = default;  ///< turns nothing
  /// For positions below `length`. Without pairs it turns nothing.
  RotaryTurns(const Rotary& rotary, Eigen::Index length);

  bool is_none() const { return cosine_.size() == 0; }
  /// R(position) times each column of `states` (d_h x n), in place; |position| < T.
  void turn(Eigen::Index position, Eigen::Ref<Eigen::MatrixXd> states) const;
  /// The turned queries, or keys, of a whole passage, in place: column t of each head's `head_width` rows
  /// by R(t). Queries also get the model's factor.
  void turn_queries(Eigen::Index head_width, Eigen::MatrixXf& queries) const;
  void turn_keys(Eigen::Index head_width, Eigen::MatrixXf& keys) const;
  /// Turns queries, or keys, of several passages that are all at `position`, in place.
  void turn_queries(Eigen::Index head_width, Eigen::Index position, Eigen::MatrixXf& queries) const;
  void turn_keys(Eigen::Index head_width, Eigen::Index position, Eigen::MatrixXf& keys) const;
  /// The queries and keys of a batch's fused matrix, in place: those at position t by R(t), or, with
  /// `direction` -1, by R(-t), which is also the way of the gradient. `places`, if not empty, have the positions
  /// of all tokens.
  template <class Scalar>
  void turn_batch(const AttentionShape& shape, int direction, Matrix<Scalar>& fused,
                  std::span<const TokenPlace> places = {}) const;
  /// A query of d_h numbers at `position`, not turned yet, as each of the `keys` first keys sees it:
  /// R(position - t) query with the model's factor, d_h x keys, so that its product with a key that is not
  /// turned is their logit. One column for all keys where nothing is turned.
  Eigen::MatrixXd rotated_for_keys(const Eigen::VectorXd& query, Eigen::Index position,
                                   Eigen::Index keys) const;

 private:
  /// Column t at position first + step t.
  void turn_columns(Eigen::Index head_width, Eigen::Index first, Eigen::Index step, double factor,
                    Eigen::MatrixXf& columns) const;
  template <class Column>
  void turn_column(Eigen::Index position, Column&& column) const;

  RotaryPairs pairs_ = RotaryPairs::kNone;
  double factor_ = 1;
  Eigen::MatrixXd cosine_, sine_;  // pairs x T
};

}  // namespace eigenscope
