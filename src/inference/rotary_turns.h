// Rotary positions of a passage: how each position turns the queries and keys of a head.
#pragma once

#include <Eigen/Core>

#include "nn/rotary.h"

namespace eigenscope {

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
  /// The same for tokens of several passages that are all at `position`.
  void turn_queries(Eigen::Index head_width, Eigen::Index position, Eigen::MatrixXf& queries) const;
  void turn_keys(Eigen::Index head_width, Eigen::Index position, Eigen::MatrixXf& keys) const;
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
