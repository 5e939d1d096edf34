// Rotary position embedding: pairs of a head's coordinates, turned by angles in proportion to the position.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "nn/attention.h"

namespace eigenscope {

/// Which coordinates of a head rotary positions turn together (Su et al., 2021).
enum class RotaryPairs {
  kNone,
  kHalves,     ///< i and i + r/2 of the first r, as in GPT-NeoX and LLaMA
  kNeighbours  ///< 2i and 2i + 1
};

/// How positions turn a head: pair p of the first `turned` coordinates by position times
/// angle_scale[p] base^(-2 p/turned) (Su et al., 2021, arXiv:2104.09864).
struct Rotary {
  RotaryPairs pairs = RotaryPairs::kNone;
  Eigen::Index turned = 0;  ///< r, even, at most d_h
  double base = 10000;
  /// r/2 factors of the angles, which models of long contexts have; empty where all are 1.
  std::vector<double> angle_scale = {};
  /// Factor of the turned coordinates' part of the logits, at every offset.
  double logit_factor = 1;
};

/// The angle by which one position turns a pair.
double angle_of(const Rotary& rotary, Eigen::Index pair);

/// The two coordinates of pair number `pair` out of `count`; not for kNone.
struct RotaryPlaces {
  Eigen::Index first, second;
};
inline RotaryPlaces rotary_places(RotaryPairs pairs, Eigen::Index pair, Eigen::Index count) {
  if (pairs == RotaryPairs::kHalves) return {pair, pair + count};
  return {2 * pair, 2 * pair + 1};
}

/// Turns (x, y) by the angle with this cosine and sine, in place.
template <class Scalar>
void turn_pair(Scalar cosine, Scalar sine, Scalar& x, Scalar& y) {
  const Scalar a = x, b = y;
  x = cosine * a - sine * b;
  y = sine * a + cosine * b;
}

/// Turns every query and key at position t by t times the angles of base 10000, in pairs of halves of the whole
/// head, in place. `direction` -1 turns back, which is also the way of the gradient.
template <class Scalar>
void rotate_positions(const AttentionShape& shape, int direction, Matrix<Scalar>& fused);

}  // namespace eigenscope
