// The decay of attention over distance that rotary positions alone are predicted to give.
#pragma once

#include <Eigen/Core>

#include "nn/rotary.h"

namespace eigenscope {

/// Exponent gamma of attention ~ distance^-gamma over passages of `length` tokens, from the rotary base theta
/// alone: (2 theta - T sqrt 2) / (2 theta + T sqrt 2), the Pade approximant of "Predicting how transformers
/// attend". It is near 1 for bases far above the length and falls to 0 at theta = T / sqrt 2; NaN for smaller
/// bases, where it would say that attention grows with the distance, without rotary positions, and for
/// angles that are scaled.
double rotary_decay(const Rotary& rotary, Eigen::Index length);

}  // namespace eigenscope
