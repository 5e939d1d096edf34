// Reductions in eight interleaved lanes: a compiler can vectorise them, and the order of the sum does
// not depend on the width of the vectors, so that native code and WASM give the same bits.
#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "support/vector_width.h"

namespace eigenscope {

/// Sum of map(i) for i below count, as eight interleaved partial sums.
template <class Scalar, class Map>
EIGENSCOPE_INLINE Scalar lane_sum(Eigen::Index count, Map map) {
  using Eigen::Index;
  constexpr Index kLanes = 8;
  Scalar lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) lanes[lane] += map(i + lane);
  }
  for (Index lane = 0; i < count; ++i, ++lane) lanes[lane] += map(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// The largest of `count` >= 1 numbers.
template <class Scalar>
EIGENSCOPE_INLINE Scalar lane_largest(const Scalar* values, Eigen::Index count) {
  using Eigen::Index;
  constexpr Index kLanes = 8;
  Scalar lanes[kLanes];
  std::fill_n(lanes, kLanes, values[0]);
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Scalar value = values[i + lane];
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

}  // namespace eigenscope
