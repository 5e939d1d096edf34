// Dropout (Srivastava et al., 2014) whose mask needs no memory: it is a function of a counter.
#pragma once

#include <cstdint>

#include "nn/tensor.h"

namespace eigenscope {

/// Parameters of the dropout masks of one training step.
struct Dropout {
  double rate = 0;  ///< share of the entries that become zero, in [0, 1)
  std::uint64_t seed = 1;
  std::uint64_t step = 0;
};

/// Each entry becomes 0 with probability `rate` and is divided by 1 - rate otherwise, in place: on the way
/// back the same call gives the gradient. `place` numbers the masks of one step.
template <class Scalar>
void apply_dropout(const Dropout& dropout, std::uint64_t place, Matrix<Scalar>& values);

}  // namespace eigenscope
