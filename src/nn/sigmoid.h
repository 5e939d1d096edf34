// The logistic function.
#pragma once

#include "support/vector_math.h"

namespace eigenscope {

/// 1/(1 + exp(-x)) by our own exponential, the same bits on every platform.
template <class Scalar>
EIGENSCOPE_INLINE Scalar sigmoid(Scalar x) {
  const Scalar small = exp_nonpositive(x < 0 ? x : -x);
  return (x < 0 ? small : Scalar(1)) / (1 + small);
}

}  // namespace eigenscope
